//! Emits the code for a declaration.

use crate::declaration::{Declaration, Member, Parameter, Terms, string};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Expr, ExprLit, Fields, Lit, LitStr, Meta, Token, Variant, parse_quote};

pub(crate) fn all(declaration: &Declaration) -> TokenStream {
    let mut item = declaration.item.clone();
    if let Fields::Named(fields) = &mut item.fields {
        for (field, member) in fields.named.iter_mut().zip(&declaration.members) {
            if let Member::Parameter(parameter) = member {
                let doc = parameter.documentation();
                field.attrs.push(parse_quote!(#[doc = ""]));
                field.attrs.push(parse_quote!(#[doc = #doc]));
            }
        }
    }
    let serde = (!declaration.is_group).then(|| serde(declaration));
    let (declared, roles, tabled) = (declared(declaration), roles(declaration), tabled(declaration));
    let (text, checked) = (declaration.is_gated.then(|| text(declaration)), checked(declaration));
    quote! { #item #declared #roles #tabled #text #serde #checked }
}

fn declared(declaration: &Declaration) -> TokenStream {
    let (ident, documentation) = (&declaration.item.ident, &declaration.documentation);
    let parts = declaration.members.iter().map(|member| member.fields(declaration));
    let fillers = declaration.members.iter().map(Member::filler);
    let name = &declaration.name;
    let owner = if declaration.is_group { quote!("") } else { quote!(#name) };
    quote! {
        impl ::fairwire_parameters::Declared for #ident {
            const FIELDS: &'static [::fairwire_parameters::Field] = {
                const PARTS: &[&[::fairwire_parameters::Field]] = &[#(#parts),*];
                &::fairwire_parameters::joined::<{ ::fairwire_parameters::total(PARTS) }>(PARTS)
            };
            const NAMES: &'static [&'static str] = {
                const FIELDS: &[::fairwire_parameters::Field] =
                    <#ident as ::fairwire_parameters::Declared>::FIELDS;
                &::fairwire_parameters::names::<{ FIELDS.len() }>(FIELDS)
            };
            const OWNER: &'static str = #owner;
            const DOCUMENTATION: &'static str = #documentation;
            const FILE: &'static str = ::core::file!();

            fn fill(&mut self, base: &Self) {
                #(#fillers)*
            }
        }
    }
}

fn roles(declaration: &Declaration) -> TokenStream {
    let ident = &declaration.item.ident;
    let found = declaration.members.iter().filter_map(Member::with_role);
    let found_mut = declaration.members.iter().filter_map(Member::with_role_mut);
    quote! {
        impl ::fairwire_parameters::Roles for #ident {
            fn with_role(&self, role: &str) -> Option<(&'static str, &dyn ::core::any::Any)> {
                #(if let Some(found) = #found { return Some(found); })*
                None
            }

            fn with_role_mut(&mut self, role: &str) -> Option<&mut dyn ::core::any::Any> {
                #(if let Some(found) = #found_mut { return Some(found); })*
                None
            }
        }
    }
}

fn tabled(declaration: &Declaration) -> TokenStream {
    let (ident, gate) = (&declaration.item.ident, declaration.gate());
    let slot = quote!(::fairwire_parameters::Tabled::slot);
    let slots = declaration.members.iter().map(|member| member.at(&slot));
    let writers = declaration.members.iter().map(Member::writer);
    quote! {
        #gate
        impl ::fairwire_parameters::Tabled for #ident {
            fn slot<'de, A: ::fairwire_parameters::serde::de::MapAccess<'de>>(
                &mut self,
                mut at: usize,
            ) -> &mut dyn ::fairwire_parameters::Slot<'de, A> {
                #(#slots)*
                unreachable!("there are as many slots as names; {at} are too many")
            }

            fn write<S: ::fairwire_parameters::serde::ser::SerializeMap>(
                &self,
                map: &mut S,
            ) -> ::core::result::Result<(), S::Error> {
                #(#writers)*
                Ok(())
            }
        }
    }
}

fn text(declaration: &Declaration) -> TokenStream {
    let ident = &declaration.item.ident;
    let place = quote!(::fairwire_parameters::text::Placed::place);
    let places = declaration.members.iter().map(|member| member.at(&place));
    let value = (!declaration.is_group).then(|| {
        quote! {
            #[cfg(feature = "text")]
            impl ::fairwire_parameters::text::FromValue for #ident {
                fn from_value(
                    value: &::fairwire_parameters::text::Value,
                ) -> ::core::result::Result<Self, ::fairwire_parameters::text::Refusal> {
                    ::fairwire_parameters::text::from_table(value)
                }
            }
        }
    });
    quote! {
        #[cfg(feature = "text")]
        impl ::fairwire_parameters::text::Placed for #ident {
            fn place(&mut self, mut at: usize) -> &mut dyn ::fairwire_parameters::text::Place {
                #(#places)*
                unreachable!("there are as many places as names; {at} are too many")
            }
        }

        #value
    }
}

impl Member {
    fn fields(&self, declaration: &Declaration) -> TokenStream {
        match self {
            Member::Parameter(parameter) => {
                let field = parameter.field(declaration.is_gated);
                quote!(&[#field])
            }
            Member::Group(_, ty) => quote!(<#ty as ::fairwire_parameters::Declared>::FIELDS),
        }
    }

    fn filler(&self) -> TokenStream {
        match self {
            Member::Parameter(parameter) => {
                let ident = &parameter.ident;
                quote! {
                    if self.#ident.is_none() {
                        self.#ident.clone_from(&base.#ident);
                    }
                }
            }
            Member::Group(ident, _) => {
                quote!(::fairwire_parameters::Declared::fill(&mut self.#ident, &base.#ident);)
            }
        }
    }

    fn with_role(&self) -> Option<TokenStream> {
        Some(match self {
            Member::Parameter(parameter) => {
                let (ident, name, is) = (&parameter.ident, parameter.name(), parameter.terms.role.as_ref()?);
                quote!(#is.found(role, &self.#ident).map(|slot| (#name, slot)))
            }
            Member::Group(ident, _) => quote!(::fairwire_parameters::Roles::with_role(&self.#ident, role)),
        })
    }

    fn with_role_mut(&self) -> Option<TokenStream> {
        Some(match self {
            Member::Parameter(parameter) => {
                let (ident, is) = (&parameter.ident, parameter.terms.role.as_ref()?);
                quote!(#is.found_mut(role, &mut self.#ident))
            }
            Member::Group(ident, _) => {
                quote!(::fairwire_parameters::Roles::with_role_mut(&mut self.#ident, role))
            }
        })
    }

    /// The code that returns the parameter with index `at`, if this member has that parameter.
    /// `of_group` is the function that finds a parameter of a group.
    fn at(&self, of_group: &TokenStream) -> TokenStream {
        match self {
            Member::Parameter(parameter) => {
                let ident = &parameter.ident;
                quote! {
                    if at == 0 {
                        return &mut self.#ident;
                    }
                    at -= 1;
                }
            }
            Member::Group(ident, ty) => quote! {
                let count = <#ty as ::fairwire_parameters::Declared>::NAMES.len();
                if at < count {
                    return #of_group(&mut self.#ident, at);
                }
                at -= count;
            },
        }
    }

    fn writer(&self) -> TokenStream {
        match self {
            Member::Parameter(parameter) => {
                let (ident, name) = (&parameter.ident, parameter.name());
                quote!(::fairwire_parameters::write(map, #name, &self.#ident)?;)
            }
            Member::Group(ident, _) => quote!(::fairwire_parameters::Tabled::write(&self.#ident, map)?;),
        }
    }
}

fn serde(declaration: &Declaration) -> TokenStream {
    let (ident, name, gate) = (&declaration.item.ident, &declaration.name, declaration.gate());
    quote! {
        #gate
        impl<'de> ::fairwire_parameters::serde::Deserialize<'de> for #ident {
            fn deserialize<D: ::fairwire_parameters::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::fairwire_parameters::deserialize(deserializer)
            }
        }

        #gate
        impl ::fairwire_parameters::serde::Serialize for #ident {
            fn serialize<S: ::fairwire_parameters::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                ::fairwire_parameters::serialize(self, serializer)
            }
        }

        #gate
        impl ::fairwire_parameters::schemars::JsonSchema for #ident {
            fn schema_name() -> ::fairwire_parameters::Cow<'static, str> {
                #name.into()
            }

            fn json_schema(
                generator: &mut ::fairwire_parameters::schemars::SchemaGenerator,
            ) -> ::fairwire_parameters::schemars::Schema {
                ::fairwire_parameters::schema(#name, <Self as ::fairwire_parameters::Declared>::FIELDS, generator)
            }
        }
    }
}

fn checked(declaration: &Declaration) -> Option<TokenStream> {
    let (ident, checked) = (&declaration.item.ident, declaration.checked.as_ref()?);
    let bound: Vec<_> = declaration.parameters().filter(|parameter| parameter.terms.is_bound()).collect();
    let idents: Vec<_> = bound.iter().map(|parameter| &parameter.ident).collect();
    let docs = bound.iter().map(|parameter| &parameter.text);
    let types = bound.iter().map(|parameter| parameter.checked_type());
    let values = bound.iter().map(|parameter| parameter.check());
    let doc =
        format!("The values of a [`{ident}`] that were given or are the defaults, all within their bounds.");
    let (vis, copy) = match declaration.is_public {
        true => (quote!(pub), quote!(#[derive(Copy)])),
        false => (quote!(pub(crate)), quote!()),
    };
    let default = declaration.is_public.then(|| {
        quote! {
            impl ::core::default::Default for #checked {
                fn default() -> Self {
                    <#ident as ::core::default::Default>::default()
                        .checked()
                        .expect("the defaults are within their bounds")
                }
            }
        }
    });
    Some(quote! {
        #[doc = #doc]
        #copy
        #[derive(Clone, Debug, PartialEq)]
        #vis struct #checked {
            #(#[doc = #docs] pub #idents: #types,)*
        }

        #default

        impl #ident {
            /// Checks every value against its bounds, and fills in the defaults of omitted values.
            #vis fn checked(&self) -> ::core::result::Result<#checked, ::fairwire_parameters::OutOfRange> {
                Ok(#checked { #(#idents: #values,)* })
            }
        }
    })
}

impl Parameter {
    /// The last line of the documentation: unit, default, range and source.
    fn documentation(&self) -> String {
        let mut doc = format!("Default: {}.", self.default_text());
        if let Some(unit) = &self.terms.unit {
            doc = format!("Unit: {unit}. {doc}");
        }
        let range = self.terms.range();
        if !range.is_empty() {
            doc += &format!(" Allowed: {range}.");
        }
        if let Some(source) = &self.terms.source {
            doc += &format!(" Source: {source}");
        }
        doc
    }

    fn field(&self, is_gated: bool) -> TokenStream {
        let (name, text, notes, inner) = (self.name(), &self.text, &self.notes, &self.inner);
        let (default, range) = (self.default_text(), self.terms.range());
        let is_required = self.terms.is_required;
        let source = self.terms.source.as_deref().unwrap_or_default();
        let unit = match &self.terms.unit {
            Some(unit) => quote!(#unit),
            None => {
                let unit = self.unit_of_type();
                quote!(#unit)
            }
        };
        let number = |bound: &Option<Expr>| match bound {
            Some(Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. })) => {
                quote!(Some((#bound) as f64))
            }
            _ => quote!(None),
        };
        let schema = match is_gated {
            false => quote!(::fairwire_parameters::schema_of::<#inner>),
            true => quote!({
                #[cfg(feature = "serde")]
                const SCHEMA: ::fairwire_parameters::SchemaOf = ::fairwire_parameters::schema_of::<#inner>;
                #[cfg(not(feature = "serde"))]
                const SCHEMA: ::fairwire_parameters::SchemaOf = ::fairwire_parameters::NO_SCHEMA;
                SCHEMA
            }),
        };
        let (above, min, max) = (number(&self.terms.above), number(&self.terms.min), number(&self.terms.max));
        quote! {
            ::fairwire_parameters::Field {
                name: #name,
                text: #text,
                notes: #notes,
                unit: #unit,
                default: #default,
                range: #range,
                source: #source,
                above: #above,
                min: #min,
                max: #max,
                is_required: #is_required,
                schema: #schema,
            }
        }
    }

    fn unit_of_type(&self) -> &'static str {
        let last = self.quantity.as_ref().unwrap_or(&self.inner).to_token_stream().to_string();
        match last.as_str() {
            "Duration" => "time",
            "Amount" | "Level" => "amount",
            "Size" => "bytes",
            "Rate" => "rate",
            "bool" => "true or false",
            _ => "choice",
        }
    }

    fn default_text(&self) -> String {
        if self.terms.is_required {
            return "none, it must be given".into();
        }
        match (&self.terms.default, &self.terms.unset) {
            (Some(Expr::Path(path)), _) => {
                format!(
                    "`{}`",
                    kebab(&path.path.segments.last().expect("a path has an end").ident.to_string())
                )
            }
            (Some(value), _) => shown(value),
            (None, unset) => unset.clone().unwrap_or_default(),
        }
    }

    fn checked_type(&self) -> TokenStream {
        let plain = self.quantity.as_ref().unwrap_or(&self.inner);
        let is_there = self.terms.default.is_some() || self.terms.is_required;
        if is_there { quote!(#plain) } else { quote!(Option<#plain>) }
    }

    fn check(&self) -> TokenStream {
        let (ident, name) = (&self.ident, self.name());
        let plain = self.quantity.as_ref().unwrap_or(&self.inner);
        let literal = |value: &Expr| match string(value) {
            Ok(text) => quote!(::fairwire_parameters::literal::<#plain>(#text)),
            Err(_) => quote!(#value),
        };
        let given = match self.quantity {
            Some(_) => quote!(self.#ident.map(|quantity| quantity.0)),
            None if self.terms.is_required => quote!(::core::clone::Clone::clone(&self.#ident)),
            None => quote!(self.#ident),
        };
        let given = match self.terms.is_required {
            true => quote!(::fairwire_parameters::required(#name, #given)?),
            false => given,
        };
        let Terms { above, min, max, .. } = &self.terms;
        let is_bound = [above, min, max].iter().any(|bound| bound.is_some());
        let bound = |bound: &Option<Expr>| match bound.as_ref().map(literal) {
            Some(value) => quote!(Some(#value)),
            None => quote!(None),
        };
        let (above, min, max) = (bound(above), bound(min), bound(max));
        let range = self.terms.range();
        let bounds = quote! {
            ::fairwire_parameters::Bounds { above: #above, min: #min, max: #max, range: #range }
        };
        match (&self.terms.default, is_bound) {
            (None, true) if self.terms.is_required => quote!(#bounds.check(#name, #given)?),
            (None, false) if self.terms.is_required => given,
            (Some(default), true) => {
                let default = literal(default);
                quote!(#bounds.check(#name, #given.unwrap_or(#default))?)
            }
            (Some(default), false) => {
                let default = literal(default);
                quote!(#given.unwrap_or(#default))
            }
            (None, _) => quote!(#given.map(|value| #bounds.check(#name, value)).transpose()?),
        }
    }
}

impl Terms {
    /// The range in words; empty if the type implies it.
    fn range(&self) -> String {
        let [above, min, max] = [&self.above, &self.min, &self.max].map(|bound| bound.as_ref().map(shown));
        match (above, min, max) {
            (Some(above), _, Some(max)) => format!("above {above}, at most {max}"),
            (Some(above), _, None) => format!("above {above}"),
            (None, Some(min), Some(max)) => format!("from {min} to {max}"),
            (None, Some(min), None) => format!("at least {min}"),
            (None, None, Some(max)) => format!("at most {max}"),
            (None, None, None) => String::new(),
        }
    }
}

fn shown(value: &Expr) -> String {
    if let Expr::Binary(fraction) = value {
        return format!("{}/{}", shown(&fraction.left), shown(&fraction.right));
    }
    let text = string(value).unwrap_or_else(|_| value.to_token_stream().to_string());
    if text.starts_with("0 ") {
        return "zero".into(); // without its unit
    }
    let text = text.replace('_', "");
    text.strip_suffix(".0").unwrap_or(&text).into()
}

/// A word's name, then its aliases. The name is serde's, or else the identifier in kebab case.
pub(crate) fn names(variant: &Variant) -> Vec<String> {
    let mut names = vec![kebab(&variant.ident.to_string())];
    let of_serde = variant.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg_attr"));
    for attribute in of_serde {
        let _ = attribute.parse_args_with(|input: ParseStream<'_>| {
            input.parse::<Meta>()?; // under what condition
            input.parse::<Token![,]>()?;
            input.parse::<Meta>()?.require_list()?.parse_nested_meta(|term| {
                let name: LitStr = term.value()?.parse()?;
                match term.path.is_ident("rename") {
                    true => names[0] = name.value(),
                    false => names.push(name.value()),
                }
                Ok(())
            })
        });
    }
    names
}

/// `LeastRecentlyUsed` as `least-recently-used`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}
