//! Passes on the target triple, which cargo tells build scripts only.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_else(|_| "unknown".into());
    println!("cargo::rustc-env=TARE_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
