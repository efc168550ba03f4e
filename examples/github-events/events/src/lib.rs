//! What happened on GitHub, as typed events: what webhooks say, cut down to what somebody here needs.
//!
//! A crate of its own, since those who tell and those who listen are different programs one day. All events are about
//! a repository, which is their partition key: what happens in one is handled in the order it was told.

use outbox::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The webhook delivery that an event was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// Its id, unique among all deliveries.
    pub id: String,
    /// What GitHub calls it, such as `pull_request`.
    pub kind: String,
    /// What was done, where GitHub tells it, such as `opened`.
    pub action: Option<String>,
    /// The login of who did it.
    pub sender: String,
}

/// Commits, or a tag, were pushed.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.pushed", version = 1, topic = "github")]
pub struct Pushed {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery.
    pub delivery: Delivery,
    /// The ref in full, such as `refs/heads/main`.
    pub git_ref: String,
    /// The commit that it points to now; all zeros when it was deleted.
    pub after: String,
    /// Whether commits that it held before are gone.
    pub forced: bool,
    /// The new commits, oldest first.
    pub commits: Vec<Commit>,
}

/// One commit of a push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Its hash.
    pub id: String,
    /// Its message.
    pub message: String,
    /// The name of its author.
    pub author: String,
}

/// A branch or a tag was created or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.ref-changed", version = 1, topic = "github")]
pub struct RefChanged {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery; its kind is `create` or `delete`.
    pub delivery: Delivery,
    /// The short name of the ref.
    pub name: String,
    /// `branch` or `tag`.
    pub ref_type: String,
}

/// Something was done to an issue.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.issue-changed", version = 1, topic = "github")]
pub struct IssueChanged {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery; its action says what was done.
    pub delivery: Delivery,
    /// The issue afterwards.
    pub issue: Issue,
}

/// Somebody commented on an issue or a pull request, or changed the comment.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.commented", version = 1, topic = "github")]
pub struct Commented {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery; its action says what was done.
    pub delivery: Delivery,
    /// The issue or pull request.
    pub issue: Issue,
    /// GitHub's number of the comment.
    pub comment_id: u64,
    /// The text of the comment.
    pub body: String,
}

/// An issue or a pull request in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    /// Its number within the repository.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// `open` or `closed`, where GitHub tells it.
    pub state: Option<String>,
    /// The names of its labels, where GitHub tells them.
    pub labels: Vec<String>,
}

/// Something was done to a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.pull-request-changed", version = 1, topic = "github")]
pub struct PullRequestChanged {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery; its action says what was done.
    pub delivery: Delivery,
    /// The pull request afterwards.
    pub pull_request: Issue,
    /// Whether it is not yet to be reviewed.
    pub is_draft: bool,
    /// Whether it was merged.
    pub is_merged: bool,
    /// The branch that it goes into.
    pub base: String,
    /// The branch that it comes from.
    pub head: String,
}

/// Something was done to a release.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.release-changed", version = 1, topic = "github")]
pub struct ReleaseChanged {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery; its action says what was done.
    pub delivery: Delivery,
    /// The tag of the release.
    pub tag: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// Whether it is a pre-release.
    pub is_prerelease: bool,
}

/// Somebody marked the repository with a star, or took it back.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.starred", version = 1, topic = "github")]
pub struct Starred {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery; its action is `created` or `deleted`.
    pub delivery: Delivery,
    /// All stars of the repository afterwards.
    pub stars: u64,
}

/// The repository was forked.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.forked", version = 1, topic = "github")]
pub struct Forked {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery.
    pub delivery: Delivery,
    /// The full name of the fork.
    pub fork: String,
}

/// Something else happened, which nobody here needs to know more about.
#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize, JsonSchema)]
#[event(type = "github.noticed", version = 1, topic = "github")]
pub struct Noticed {
    /// The full name of the repository.
    #[event(key)]
    pub repository: String,
    /// The delivery.
    pub delivery: Delivery,
}
