//! A TCP proxy on loopback that can cut, stall and slow the connections through it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the proxy does with its connections.
#[derive(Debug, Clone, Copy)]
struct Network {
    mode: Mode,
    /// Grows with each cut, so that a connection notices one that was over before it looked.
    cuts: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Each piece of data waits that long, then passes.
    Open(Duration),
    /// Connections stay open and new ones are taken, but no byte passes.
    Stalled,
    /// Every connection is closed, and new ones as soon as they come.
    Cut,
}

/// A TCP proxy between a client and one server. Dropping it cuts every connection.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    network: watch::Sender<Network>,
    // Owns the tasks: they end with the proxy.
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Starts a proxy to the server that listens on `port` of loopback.
    pub async fn to(port: u16) -> Self {
        Self::between(0, port).await.expect("loopback has a free port")
    }

    /// As [`Proxy::to`], listening on a port of the caller's choice: for clients that go where the server sends them.
    ///
    /// # Errors
    /// Somebody else has the port.
    pub async fn between(own: u16, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", own)).await?;
        let address = listener.local_addr().expect("a bound socket has an address");
        let network = watch::Sender::new(Network { mode: Mode::Open(Duration::ZERO), cuts: 0 });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, port, network.subscribe()));
        Ok(Self { address, network, _tasks: tasks })
    }

    /// The address to give to the client.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes every connection, and each new one at once.
    pub fn cut(&self) {
        self.network.send_modify(|network| {
            network.mode = Mode::Cut;
            network.cuts += 1;
        });
    }

    /// Holds back every byte in both directions while all connections stay open, as a dead route does.
    pub fn stall(&self) {
        self.network.send_modify(|network| network.mode = Mode::Stalled);
    }

    /// Delays each piece of data by `pause` in each direction.
    pub fn delay(&self, pause: Duration) {
        self.network.send_modify(|network| network.mode = Mode::Open(pause));
    }

    /// Lets everything pass at once again; bytes held back by [`stall`](Self::stall) follow.
    pub fn resume(&self) {
        self.delay(Duration::ZERO);
    }
}

async fn accept(listener: TcpListener, port: u16, network: watch::Receiver<Network>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(carry(client, port, network.clone()));
    }
}

async fn carry(client: TcpStream, port: u16, network: watch::Receiver<Network>) {
    let mut cut = network.clone();
    let cuts = cut.borrow().cuts;
    let both_ways = async {
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        // When one side ends, so does the whole connection: what tests need, not what every protocol does.
        tokio::select! {
            () = copy(from_client, to_server, network.clone()) => {}
            () = copy(from_server, to_client, network) => {}
        }
    };
    tokio::select! { biased;
        _ = cut.wait_for(|network| network.mode == Mode::Cut || network.cuts != cuts) => {}
        () = both_ways => {}
    }
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut network: watch::Receiver<Network>,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let open = network.wait_for(|network| matches!(network.mode, Mode::Open(_))).await;
        let Ok(Mode::Open(pause)) = open.map(|network| network.mode) else { return };
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
