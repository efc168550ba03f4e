//! The commands of the schema gate, run in repositories of all kinds by the xtasks of one shop at three points of
//! its life. They are programs of this package, so that a case costs no build.

mod accept;
mod baseline;
mod compare;
mod diff;
mod waiver;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// At the first release, after additive changes, and after one that breaks.
const RELEASED: &str = env!("CARGO_BIN_EXE_shop_released");
const GROWN: &str = env!("CARGO_BIN_EXE_shop_grown");
const BROKEN: &str = env!("CARGO_BIN_EXE_shop_broken");

/// A folder with a workspace in it, and perhaps a repository.
struct Shop {
    folder: TempDir,
}

impl Shop {
    /// A workspace in no repository.
    fn bare() -> Self {
        let shop = Self { folder: TempDir::new().unwrap() };
        shop.write("Cargo.lock", "");
        shop
    }

    /// A workspace in a repository without any commit.
    fn in_repository() -> Self {
        let shop = Self::bare();
        shop.git(&["init", "--quiet"]);
        shop
    }

    /// The shop right after its first release.
    fn released(tag: &str) -> Self {
        let shop = Self::in_repository();
        shop.run(RELEASED, &["schema-accept"]).says(0, &["new: "]);
        shop.commit(tag);
        shop.git(&["tag", tag]);
        shop
    }

    fn git(&self, args: &[&str]) {
        let who = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        command.arg("-C").arg(self.folder.path()).args(who).args(["-c", "tag.gpgsign=false"]).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs an xtask as cargo would in the root of the workspace.
    fn run(&self, xtask: &str, args: &[&str]) -> Outcome {
        run_in(self.folder.path(), xtask, args)
    }
}

fn command(folder: &Path, xtask: &str, args: &[&str]) -> Command {
    let mut command = Command::new(xtask);
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command.env("CARGO_MANIFEST_DIR", folder).env_remove("NO_COLOR");
    command
}

fn run_in(folder: &Path, xtask: &str, args: &[&str]) -> Outcome {
    Outcome::of(&command(folder, xtask, args).output().unwrap())
}

#[derive(Debug)]
struct Outcome {
    code: i32,
    out: String,
    err: String,
}

impl Outcome {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().expect("the xtask was not killed");
        Self { code, out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Ends with `code`, and prints each of `parts`.
    #[track_caller]
    fn says(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        for part in parts {
            assert!(self.out.contains(part), "`{part}` is missing in:\n{}\n{}", self.out, self.err);
        }
    }

    /// Could not run, and says so in one line with each of `parts`.
    #[track_caller]
    fn fails_in_one_line(&self, parts: &[&str]) {
        assert_eq!(self.code, 2, "{}\n{}", self.out, self.err);
        assert!(self.err.starts_with("error: ") && self.err.trim_end().lines().count() == 1, "{}", self.err);
        for part in parts {
            assert!(self.err.contains(part), "`{part}` is missing in:\n{}", self.err);
        }
    }
}
