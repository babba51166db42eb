//! The attributes `#[parameters]` and `#[word]`, which `fairwire-parameters` exports and documents.

mod declaration;
mod emit;

use declaration::Declaration;
use proc_macro::{Span, TokenStream};
use quote::quote;
use std::fs;
use std::path::PathBuf;
use syn::{Error, ItemEnum, ItemStruct, parse_macro_input};

/// Turns a struct of optional fields into a set of declared parameters; see `fairwire_parameters`.
#[proc_macro_attribute]
pub fn parameters(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let documentation = documentation(Span::call_site().local_file());
    let item = parse_macro_input!(item as ItemStruct);
    let declaration = Declaration::read(arguments.into(), item, documentation);
    let expanded = declaration.map(|declaration| emit::all(&declaration));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Turns an enum without values into the words of a parameter; see `fairwire_parameters`.
#[proc_macro_attribute]
pub fn word(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemEnum);
    let serde = quote! {
        derive(
            ::fairwire_parameters::serde::Deserialize,
            ::fairwire_parameters::serde::Serialize,
            ::fairwire_parameters::schemars::JsonSchema,
        ),
        serde(crate = "::fairwire_parameters::serde", rename_all = "kebab-case"),
        schemars(crate = "::fairwire_parameters::schemars")
    };
    let (gate, text) = match arguments.to_string().as_str() {
        "" => (quote!(all()), None),
        "gated" => (quote!(feature = "serde"), Some(words(&item))),
        _ => return Error::new_spanned(item.ident, "allowed: `gated`").to_compile_error().into(),
    };
    quote! {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[cfg_attr(#gate, #serde)]
        #item
        #text
    }
    .into()
}

fn words(item: &ItemEnum) -> proc_macro2::TokenStream {
    let ident = &item.ident;
    let words = item.variants.iter().flat_map(|variant| {
        let of = &variant.ident;
        emit::names(variant).into_iter().map(move |name| quote!((#name, #ident::#of)))
    });
    quote! {
        #[cfg(feature = "text")]
        impl ::fairwire_parameters::text::FromValue for #ident {
            fn from_value(
                value: &::fairwire_parameters::text::Value,
            ) -> ::core::result::Result<Self, ::fairwire_parameters::text::Refusal> {
                ::fairwire_parameters::text::word(value, &[#(#words),*])
            }
        }
    }
}

/// The leading `//!` lines; empty if the file is unknown, as in some editors.
fn documentation(file: Option<PathBuf>) -> String {
    let source = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}
