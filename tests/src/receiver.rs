//! A receiver of webhooks on loopback, which answers as the test says.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// One post that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// The line of the request.
    pub line: String,
    /// Its headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
}

impl Post {
    /// The value of the header of that name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// How a post is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// With this status.
    Status(u16),
    /// By closing the connection.
    Close,
    /// Not at all, with the connection open.
    Silence,
}

/// Keeps every post that comes. Dropped, it listens no more.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    posts: Arc<Mutex<Vec<Post>>>,
    // Owns the task: it ends with the receiver.
    _tasks: JoinSet<()>,
}

impl Receiver {
    /// Starts one that answers the first posts like this, and all others with 204.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let posts = Arc::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(receive(listener, answers.into_iter().collect(), Arc::clone(&posts)));
        Self { address, posts, _tasks: tasks }
    }

    /// The address to post to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/dead-letters", self.address)
    }

    /// What came so far.
    #[must_use]
    pub fn posts(&self) -> Vec<Post> {
        self.posts.lock().expect("no panic holds this lock").clone()
    }
}

/// One connection after the other, each for one post.
async fn receive(listener: TcpListener, mut answers: VecDeque<Answer>, posts: Arc<Mutex<Vec<Post>>>) {
    let mut silent = Vec::new();
    loop {
        let (mut connection, _) = listener.accept().await.expect("the listener lives");
        let Ok(post) = read(&mut connection).await else { continue };
        posts.lock().expect("no panic holds this lock").push(post);
        match answers.pop_front().unwrap_or(Answer::Status(204)) {
            Answer::Status(status) => {
                let answer =
                    format!("HTTP/1.1 {status} As Told\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
                // Who asked may be gone.
                let _ = connection.write_all(answer.as_bytes()).await;
            }
            Answer::Close => {}
            Answer::Silence => silent.push(connection),
        }
    }
}

async fn read(connection: &mut TcpStream) -> std::io::Result<Post> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).await?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).await?;
    Ok(Post { line: line.trim_end().to_owned(), headers, body: String::from_utf8_lossy(&body).into_owned() })
}
