//! Webhooks as they are in the file, and the events they become.

use crate::Result;
use github_webhook_events::{
    Commented, Commit, Delivery, Forked, Issue, IssueChanged, Noticed, PullRequestChanged, Pushed,
    RefChanged, ReleaseChanged, Starred,
};
use outbox::{Draft, draft};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::path::Path;

/// One line of the file.
#[derive(Debug, Deserialize)]
pub(crate) struct Webhook {
    pub(crate) event: String,
    pub(crate) action: Option<String>,
    /// What GitHub sent, to the byte.
    pub(crate) payload: Box<RawValue>,
}

impl Webhook {
    /// Reads a file.
    pub(crate) fn read_all(file: &Path) -> Result<Vec<Self>> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| {
                let place = |error| format!("{}:{}: {error}", file.display(), number + 1);
                Ok(serde_json::from_str(line).map_err(place)?)
            })
            .collect()
    }

    /// The payload, as far as `T` is interested in it.
    pub(crate) fn payload<T: DeserializeOwned>(&self) -> Result<T> {
        let place = |error| format!("a payload of `{}` is not what GitHub sends: {error}", self.event);
        Ok(serde_json::from_str(self.payload.get()).map_err(place)?)
    }

    /// The event that it becomes, ready to be enqueued. `id` is the id of the delivery.
    pub(crate) fn event(&self, id: String) -> Result<Draft> {
        let Origin { repository, sender } = self.payload()?;
        let (kind, action) = (self.event.clone(), self.action.clone());
        let repository = repository.full_name;
        let delivery = Delivery { id, kind, action, sender: sender.login };
        Ok(match self.event.as_str() {
            "push" => draft(&self.payload::<Push>()?.event(repository, delivery)),
            "create" | "delete" => {
                let Ref { name, ref_type } = self.payload()?;
                draft(&RefChanged { repository, delivery, name, ref_type })
            }
            "issues" => {
                let About { issue } = self.payload()?;
                draft(&IssueChanged { repository, delivery, issue: issue.short() })
            }
            "issue_comment" => {
                let Comment { issue, comment } = self.payload()?;
                let (comment_id, body) = (comment.id, comment.body);
                draft(&Commented { repository, delivery, issue: issue.short(), comment_id, body })
            }
            "pull_request" => draft(&self.payload::<PullRequest>()?.event(repository, delivery)),
            "release" => draft(&self.payload::<Release>()?.event(repository, delivery)),
            "star" => {
                let stars = self.payload::<Star>()?.repository.stargazers_count;
                draft(&Starred { repository, delivery, stars })
            }
            "fork" => {
                let fork = self.payload::<Fork>()?.forkee.full_name;
                draft(&Forked { repository, delivery, fork })
            }
            _ => draft(&Noticed { repository, delivery }),
        })
    }
}

/// What every payload has.
#[derive(Debug, Deserialize)]
pub(crate) struct Origin {
    pub(crate) repository: Repository,
    pub(crate) sender: Sender,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Repository {
    pub(crate) full_name: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sender {
    pub(crate) login: String,
}

#[derive(Debug, Deserialize)]
struct Push {
    #[serde(rename = "ref")]
    git_ref: String,
    after: String,
    forced: bool,
    commits: Vec<PushedCommit>,
}

#[derive(Debug, Deserialize)]
struct PushedCommit {
    id: String,
    message: String,
    author: Author,
}

#[derive(Debug, Deserialize)]
struct Author {
    name: String,
}

impl Push {
    fn event(self, repository: String, delivery: Delivery) -> Pushed {
        let Self { git_ref, after, forced, commits } = self;
        let commit = |PushedCommit { id, message, author }| Commit { id, message, author: author.name };
        Pushed {
            repository,
            delivery,
            git_ref,
            after,
            forced,
            commits: commits.into_iter().map(commit).collect(),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Ref {
    #[serde(rename = "ref")]
    name: String,
    ref_type: String,
}

#[derive(Debug, Deserialize)]
struct About {
    issue: LongIssue,
}

#[derive(Debug, Deserialize)]
struct Comment {
    issue: LongIssue,
    comment: CommentText,
}

#[derive(Debug, Deserialize)]
struct CommentText {
    id: u64,
    body: String,
}

#[derive(Debug, Deserialize)]
struct LongIssue {
    number: u64,
    title: String,
    state: Option<String>,
    /// Absent in webhooks about pinned issues, as is the state.
    #[serde(default)]
    labels: Vec<Label>,
}

#[derive(Debug, Deserialize)]
struct Label {
    name: String,
}

impl LongIssue {
    fn short(self) -> Issue {
        let labels = self.labels.into_iter().map(|label| label.name).collect();
        Issue { number: self.number, title: self.title, state: self.state, labels }
    }
}

#[derive(Debug, Deserialize)]
struct PullRequest {
    pull_request: LongPullRequest,
}

#[derive(Debug, Deserialize)]
struct LongPullRequest {
    #[serde(flatten)]
    issue: LongIssue,
    draft: bool,
    merged: bool,
    base: Branch,
    head: Branch,
}

#[derive(Debug, Deserialize)]
struct Branch {
    #[serde(rename = "ref")]
    name: String,
}

impl PullRequest {
    fn event(self, repository: String, delivery: Delivery) -> PullRequestChanged {
        let LongPullRequest { issue, draft, merged, base, head } = self.pull_request;
        PullRequestChanged {
            repository,
            delivery,
            pull_request: issue.short(),
            is_draft: draft,
            is_merged: merged,
            base: base.name,
            head: head.name,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Release {
    release: LongRelease,
}

#[derive(Debug, Deserialize)]
struct LongRelease {
    tag_name: String,
    name: Option<String>,
    prerelease: bool,
}

impl Release {
    fn event(self, repository: String, delivery: Delivery) -> ReleaseChanged {
        let LongRelease { tag_name: tag, name: title, prerelease } = self.release;
        ReleaseChanged { repository, delivery, tag, title, is_prerelease: prerelease }
    }
}

#[derive(Debug, Deserialize)]
struct Star {
    repository: Starry,
}

#[derive(Debug, Deserialize)]
struct Starry {
    stargazers_count: u64,
}

#[derive(Debug, Deserialize)]
struct Fork {
    forkee: Repository,
}
