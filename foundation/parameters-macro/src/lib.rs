//! The attribute `#[parameters]`: one declaration of each parameter. Documented in
//! `fairwire-parameters`, which exports it.

mod declaration;
mod emit;

use declaration::Declaration;
use proc_macro::{Span, TokenStream};
use std::fs;
use std::path::PathBuf;
use syn::{ItemStruct, parse_macro_input};

/// Makes a struct of optional fields a set of declared parameters. See the documentation of
/// `fairwire_parameters`.
#[proc_macro_attribute]
pub fn parameters(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let documentation = documentation(Span::call_site().local_file());
    let item = parse_macro_input!(item as ItemStruct);
    let declaration = Declaration::read(arguments.into(), item, documentation);
    let expanded = declaration.map(|declaration| emit::all(&declaration));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// The leading `//!` lines of a file. Empty where there is no file, as in some editors.
fn documentation(file: Option<PathBuf>) -> String {
    let source = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}
