//! The command line `outbox`; see [`outbox::cli`].

fn main() -> std::process::ExitCode {
    outbox::cli::main()
}
