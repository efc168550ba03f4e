//! The broker against the public suite.

use file_broker::FileBroker;
use outbox::broker::Broker;
use outbox::conformance::broker::{Rig, check};
use std::sync::atomic::{AtomicU32, Ordering};

struct FileRig {
    broker: FileBroker,
    topics: AtomicU32,
}

impl Rig for FileRig {
    fn name(&self) -> &str {
        "file"
    }

    fn broker(&self) -> Option<&dyn Broker> {
        Some(&self.broker)
    }

    fn fresh_topic(&self) -> String {
        format!("topic-{}", self.topics.fetch_add(1, Ordering::Relaxed))
    }
}

#[tokio::test(start_paused = true)]
async fn a_folder_of_files_keeps_every_rule_of_a_broker() {
    let folder = tempfile::tempdir().unwrap();
    let rig = FileRig { broker: FileBroker::new(folder.path()), topics: AtomicU32::new(0) };
    let report = check(&rig).await;
    assert!(report.kept().count() > 10, "{report}");
}
