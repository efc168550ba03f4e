//! Commands of this repository; an xtask of any project that uses `outbox` looks like its last arm.
fn main() {}
