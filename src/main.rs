//! The program: three decisions and the exit code.

fn main() {}
