//! Names the shared library as programs will look for it. What it exports follows from the compiler:
//! the functions that have a name for C, and no other.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libfairwire.so.1");
    }
}
