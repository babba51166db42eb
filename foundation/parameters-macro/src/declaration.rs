//! Parses a struct, and each field's documentation and `#[parameter(…)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, ExprLit, Field, Fields, GenericArgument, Ident, ItemStruct, Lit, Meta,
    MetaNameValue, PathArguments, Result, Token, Type, parse_quote,
};

pub(crate) struct Declaration {
    /// The struct to emit, without the attributes of this macro.
    pub item: ItemStruct,
    /// The name of the struct of checked values, if requested.
    pub checked: Option<Ident>,
    /// The name of the parameters' owner; by default, the constant `NAME`.
    pub name: Expr,
    /// Is the struct only flattened into other structs?
    pub is_group: bool,
    /// True if the struct of checked values is public and implements `Default`.
    pub is_public: bool,
    /// True if the code that needs serde requires the declaring crate's feature `serde`.
    pub is_gated: bool,
    /// The file's leading `//!` lines.
    pub documentation: String,
    pub members: Vec<Member>,
}

pub(crate) enum Member {
    /// A parameter.
    Parameter(Box<Parameter>),
    /// A flattened struct of parameters: `#[parameter(flatten)]`.
    Group(Ident, Box<Type>),
}

/// One parameter.
pub(crate) struct Parameter {
    /// The field.
    pub ident: Ident,
    /// The type inside the `Option`.
    pub inner: Type,
    /// The type inside the `Quantity`, if any.
    pub quantity: Option<Type>,
    /// The first paragraph of the field's documentation.
    pub text: String,
    /// The other paragraphs.
    pub notes: String,
    /// The terms of `#[parameter(…)]`.
    pub terms: Terms,
}

#[derive(Default)]
pub(crate) struct Terms {
    /// The default value.
    pub default: Option<Expr>,
    /// Is it required?
    pub is_required: bool,
    /// The default in words, if it depends on other values.
    pub unset: Option<String>,
    /// The unit, if the type does not imply it.
    pub unit: Option<String>,
    /// The exclusive lower bound.
    pub above: Option<Expr>,
    /// The smallest value.
    pub min: Option<Expr>,
    /// The largest value.
    pub max: Option<Expr>,
    /// The source: paper, section, or RFC.
    pub source: Option<String>,
    /// The role.
    pub role: Option<Expr>,
}

impl Terms {
    pub(crate) fn is_bound(&self) -> bool {
        self.is_required
            || [&self.default, &self.above, &self.min, &self.max].iter().any(|term| term.is_some())
    }
}

impl Declaration {
    pub(crate) fn read(
        arguments: TokenStream,
        mut item: ItemStruct,
        documentation: String,
    ) -> Result<Declaration> {
        let (mut checked, mut name) = (None, parse_quote!(NAME));
        let (mut is_group, mut is_gated, mut is_public) = (false, false, false);
        for argument in Punctuated::<Meta, Token![,]>::parse_terminated.parse2(arguments)? {
            match &argument {
                Meta::NameValue(pair) if pair.path.is_ident("checked") => checked = Some(ident(&pair.value)?),
                Meta::NameValue(pair) if pair.path.is_ident("name") => name = pair.value.clone(),
                Meta::Path(path) if path.is_ident("group") => is_group = true,
                Meta::Path(path) if path.is_ident("gated") => is_gated = true,
                Meta::Path(path) if path.is_ident("public") => is_public = true,
                other => {
                    let allowed = "allowed: `name = \"name\"`, `checked = Name`, `group`, `gated`, `public`";
                    return Err(Error::new_spanned(other, allowed));
                }
            }
        }
        let Fields::Named(fields) = &mut item.fields else {
            return Err(Error::new_spanned(&item.ident, "parameters are a struct with named fields"));
        };
        let members = fields.named.iter_mut().map(Member::read).collect::<Result<_>>()?;
        Ok(Declaration { item, checked, name, is_group, is_gated, is_public, documentation, members })
    }

    pub(crate) fn gate(&self) -> Option<TokenStream> {
        self.is_gated.then(|| quote!(#[cfg(feature = "serde")]))
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.members.iter().filter_map(|member| match member {
            Member::Parameter(parameter) => Some(&**parameter),
            Member::Group(..) => None,
        })
    }
}

impl Member {
    fn read(field: &mut Field) -> Result<Member> {
        let is_flat = |attribute: &Attribute| {
            let list = attribute.meta.require_list().ok().filter(|list| list.path.is_ident("parameter"));
            list.is_some_and(|list| list.tokens.to_string() == "flatten")
        };
        if let Some(at) = field.attrs.iter().position(is_flat) {
            field.attrs.remove(at);
            return Ok(Member::Group(field.ident.clone().expect("named"), Box::new(field.ty.clone())));
        }
        Parameter::read(field).map(|parameter| Member::Parameter(Box::new(parameter)))
    }
}

impl Parameter {
    fn read(field: &mut Field) -> Result<Parameter> {
        let mut terms = Terms::default();
        let mut kept = Vec::new();
        for attribute in field.attrs.drain(..) {
            if attribute.path().is_ident("parameter") {
                terms.read(attribute.meta.require_list()?.tokens.clone())?;
            } else {
                kept.push(attribute);
            }
        }
        field.attrs = kept;
        let ident = field.ident.clone().expect("named");
        let inner = inside("Option", &field.ty)
            .ok_or_else(|| Error::new_spanned(&field.ty, "a parameter is an `Option`"))?;
        let doc = documentation(&field.attrs);
        let (text, notes) = doc.split_once("\n\n").unwrap_or((&doc, ""));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (text, notes) = (words(text), words(notes));
        if text.is_empty() {
            return Err(Error::new_spanned(&ident, "a parameter has a text"));
        }
        let said = [terms.default.is_some(), terms.unset.is_some(), terms.is_required];
        if said.iter().filter(|is_said| **is_said).count() != 1 {
            let allowed = "one of `default = value`, `unset = \"what holds then\"` and `required`";
            return Err(Error::new_spanned(&ident, allowed));
        }
        let quantity = inside("Quantity", &inner);
        Ok(Parameter { ident, inner, quantity, text, notes, terms })
    }

    pub(crate) fn name(&self) -> String {
        self.ident.to_string().trim_start_matches("r#").into()
    }
}

impl Terms {
    fn read(&mut self, tokens: TokenStream) -> Result<()> {
        for term in Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens)? {
            if let Meta::Path(path) = &term
                && path.is_ident("required")
            {
                self.is_required = true;
                continue;
            }
            let MetaNameValue { path, value, .. } = term.require_name_value()?.clone();
            let name = path.require_ident()?.to_string();
            match name.as_str() {
                "default" => self.default = Some(value),
                "above" => self.above = Some(value),
                "min" => self.min = Some(value),
                "max" => self.max = Some(value),
                "unset" => self.unset = Some(string(&value)?),
                "unit" => self.unit = Some(string(&value)?),
                "source" => self.source = Some(string(&value)?),
                "is" => self.role = Some(value),
                _ => {
                    let allowed = "allowed: `default`, `unset`, `required`, `unit`, `above`, `min`, `max`, `source`, `is`";
                    return Err(Error::new_spanned(path, allowed));
                }
            }
        }
        Ok(())
    }
}

fn ident(value: &Expr) -> Result<Ident> {
    match value {
        Expr::Path(path) => path.path.require_ident().cloned(),
        other => Err(Error::new_spanned(other, "a name")),
    }
}

pub(crate) fn string(value: &Expr) -> Result<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.value()),
        other => Err(Error::new_spanned(other, "a text in quotes")),
    }
}

/// `T` of `outer<T>`.
fn inside(outer: &str, of: &Type) -> Option<Type> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == outer)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner.clone()),
        _ => None,
    }
}

fn documentation(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(MetaNameValue { path, value, .. }) = &attribute.meta
            && path.is_ident("doc")
            && let Ok(line) = string(value)
        {
            lines.push(line.trim().to_owned());
        }
    }
    lines.join("\n")
}
