//! The attribute `#[parameters]`: one declaration of each parameter. Described in `fairwire-parameters`, which exports it.

mod declaration;
mod emit;

use declaration::Declaration;
use proc_macro::TokenStream;
use syn::{ItemStruct, parse_macro_input};

/// Makes a struct of optional fields a set of declared parameters. See the documentation of `fairwire_parameters`.
#[proc_macro_attribute]
pub fn parameters(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemStruct);
    let expanded = Declaration::read(arguments.into(), item).map(|declaration| emit::all(&declaration));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}
