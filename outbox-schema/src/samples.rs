//! Recorded payloads: `schemas/<type>/samples/*.json`, each a payload as it travels.

use crate::compat::Sample;
use crate::contract::MEMBERS;
use serde_json::Value;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The recorded payloads of one event type, with the version each names.
pub(crate) fn read(schemas: &Path, event_type: &str) -> Result<Vec<(u32, Sample)>, String> {
    let folder = schemas.join(event_type).join("samples");
    let files = files(&folder).map_err(|error| format!("can't read {}: {error}", folder.display()))?;
    files.iter().map(|path| read_one(path, event_type)).collect()
}

/// The files of the folder that end in `.json`, sorted; none where there is no such folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    Ok(paths)
}

fn read_one(path: &Path, event_type: &str) -> Result<(u32, Sample), String> {
    let broken = |reason: String| {
        format!("{}: not a recorded payload: {reason}; mend the file or delete it", path.display())
    };
    let text = fs::read_to_string(path).map_err(|error| format!("can't read {}: {error}", path.display()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut payload: Value = serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
    let [type_member, version_member] = MEMBERS;
    let Value::Object(members) = &mut payload else { return Err(broken("it is no JSON object".to_owned())) };
    let named = members.entry(type_member).or_insert_with(|| Value::from(event_type));
    if named != event_type {
        return Err(broken(format!(
            "its `{type_member}` is {named}, and it lies in the folder of `{event_type}`"
        )));
    }
    let version =
        members.get(version_member).and_then(Value::as_u64).and_then(|version| u32::try_from(version).ok());
    let version =
        version.ok_or_else(|| broken(format!("it has no `{version_member}` that names its version")))?;
    let folder = Path::new(event_type).join("samples");
    let name = folder.join(path.file_name().unwrap_or_default()).display().to_string();
    Ok((version, Sample { name, payload }))
}
