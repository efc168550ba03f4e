//! Starting a program when dead letters have come.

use crate::Growth;
use std::{error::Error, path::PathBuf, process::Stdio};
use tokio::{io::AsyncWriteExt, process::Command};

/// Starts it with the growth as JSON on stdin; an error unless it ends with 0. Dropped, it is killed.
pub(super) async fn call(program: PathBuf, growth: Growth) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut child =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::null()).kill_on_drop(true).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing is none that failed.
        let _ = stdin.write_all(format!("{}\n", serde_json::to_string(&growth)?).as_bytes()).await;
    }
    let ended = child.wait().await?;
    match ended.success() {
        true => Ok(()),
        false => Err(format!("`{}` ended with {ended}", program.display()).into()),
    }
}
