//! nginx, the reference for sending files.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// An nginx process, killed when dropped.
pub struct Nginx {
    child: Child,
    /// The address it listens on.
    pub address: SocketAddr,
}

impl Nginx {
    /// Starts nginx on the files of a folder; none if nginx is not installed.
    pub fn start(folder: &Path, root: &Path) -> anyhow::Result<Option<Self>> {
        // The port is free again before nginx binds it; no other process here binds ports at this time.
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let here = folder.join("nginx");
        std::fs::create_dir_all(&here)?;
        let (here, root) = (here.display(), root.display());
        // A single process without a master, so that its CPU can be read. It writes an access log, like the service.
        let settings = format!(
            "daemon off; master_process off; pid {here}/pid; error_log {here}/error.log;\n\
             events {{}}\n\
             http {{ sendfile on; tcp_nopush on; access_log {here}/access.log; keepalive_requests 1000000;\n\
               client_body_temp_path {here}; proxy_temp_path {here}; fastcgi_temp_path {here};\n\
               uwsgi_temp_path {here}; scgi_temp_path {here};\n\
               server {{ listen {address}; root {root}; }} }}\n"
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings)?;
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&file).arg("-p").arg(folder).stdout(Stdio::null());
        let child = match command.stderr(Stdio::null()).spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                eprintln!("NO FIGURES BESIDE NGINX: there is none here (apt-get install nginx-light)");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let nginx = Self { child, address };
        for _ in 0..500 {
            if std::net::TcpStream::connect(address).is_ok() {
                return Ok(Some(nginx));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        anyhow::bail!("nginx does not listen; its log is in {here}/error.log")
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
