//! Files shipped with the binary: compose.yaml with its proxy, and the manifest for Kubernetes. Read as text, because no test
//! starts containers; Caddy runs without one.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use crate::ports::reserved_port;
use test_support::WAIT_TIMEOUT;

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Returns the text after a key, up to the end of the row, a comma or a brace.
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let after = text
        .split_once(&format!("{key}: "))
        .unwrap_or_else(|| panic!("no {key}"))
        .1;
    after.split(['\n', ',', '}']).next().unwrap().trim()
}

/// Returns the first and the last address of a CIDR block.
fn block(text: &str) -> (u32, u32) {
    let (address, bits) = text.split_once('/').unwrap();
    let first = u32::from(address.parse::<Ipv4Addr>().unwrap());
    let size = 1_u32 << (32 - bits.parse::<u32>().unwrap());
    assert_eq!(first % size, 0, "{text}");
    (first, first + size - 1)
}

#[test]
fn proxy_address_is_outside_the_dynamic_address_pool() {
    let compose = read("compose.yaml");
    let fixed = value(&compose, "ipv4_address");
    assert_eq!(value(&compose, "TRUST_PROXY"), fixed);
    let inside = |block: (u32, u32), address: &str| {
        let address = u32::from(address.parse::<Ipv4Addr>().unwrap());
        (block.0..=block.1).contains(&address)
    };
    let (subnet, pool) = (block(value(&compose, "subnet")), block(value(&compose, "ip_range")));
    let gateway = value(&compose, "gateway");
    assert!(subnet.0 <= pool.0 && pool.1 <= subnet.1);
    for address in [fixed, gateway] {
        assert!(inside(subnet, address) && !inside(pool, address), "{address}");
    }
    assert_ne!(fixed, gateway);
}

#[test]
fn document_server_has_own_origin_without_prefix() {
    let (compose, caddy, example) = (
        read("compose.yaml"),
        read("packaging/Caddyfile"),
        read("packaging/compose.env.example"),
    );
    let domain = |url: &str| {
        url.split_once("${")
            .unwrap()
            .1
            .split([':', '}'])
            .next()
            .unwrap()
            .to_owned()
    };
    let service = domain(value(&compose, "FRONTEND_URL"));
    let documents = domain(value(&compose, "DOCSERVER_URL"));
    assert_ne!(service, documents);
    let line = compose.lines().find(|line| line.contains("DOCSERVER_URL: "));
    assert!(line.unwrap().ends_with('}'), "a host and no path");
    // Each host is a separate site, and the proxy forwards the host header unchanged.
    for (name, upstream) in [(&service, "groupwork:3000"), (&documents, "documents:80")] {
        let site = caddy.split_once(&format!("{{${name}}} {{")).unwrap().1;
        let site = site.split_once("\n}").unwrap().0;
        assert!(site.contains(&format!("reverse_proxy {upstream}")), "{site}");
        assert!(example.contains(&format!("\n{name}=")), "{name}");
        assert!(
            compose.contains(&format!("{name}: ${{{name}")),
            "the proxy does not receive {name}"
        );
    }
    for word in ["Prefix", "header_up", "handle_path"] {
        assert!(!caddy.contains(word), "{word}");
    }
}

/// Runs a program on files of the repository; `None` if it is not installed.
fn run_tool(program: &str, arguments: &[&str]) -> Option<(bool, String)> {
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .envs([("DOMAIN", "school.example"), ("DOCS_DOMAIN", "docs.school.example")])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let Ok(output) = command.output() else {
        test_support::report_skipped(&format!("{program} is not installed"));
        return None;
    };
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

/// Another process writes the file. If this one did, a child that another test starts at that moment would have the file open
/// for writing, too, and the kernel would refuse to run it.
fn write_program(path: &std::path::Path, text: &str) {
    let mut install = std::process::Command::new("install");
    install.args(["-D", "-m", "755", "/dev/stdin"]).arg(path);
    let mut install = install.stdin(Stdio::piped()).spawn().unwrap();
    install.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(install.wait().unwrap().success(), "{}", path.display());
}

/// Records its calls; the digests of images are made up.
const FAKE_CONTAINER_TOOL: &str = r#"#!/bin/sh
echo "$*" >>"$CALLS"
case "$1" in
image) printf '%s@sha256:%064d\n' "$5" 7 ;;
save) echo image ;;
esac
"#;

/// Returns the images after `key`, at the beginning of a line.
fn images(text: &str, key: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(key));
    lines
        .map(|image| image.split(' ').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn released_image_has_the_released_binary_and_names_images_by_digest() {
    let folder = tempfile::tempdir().unwrap();
    let [tool, dist, calls] = ["fake-tool", "dist", "calls"].map(|name| folder.path().join(name));
    write_program(&tool, FAKE_CONTAINER_TOOL);
    std::fs::create_dir(&dist).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/build-image");
    let mut build = std::process::Command::new(script);
    build.arg(&dist).env("CONTAINER_TOOL", &tool).env("CALLS", &calls);
    let output = build.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let built = |name: &str| std::fs::read_to_string(dist.join(name)).unwrap();
    let (version, containerfile) = (env!("CARGO_PKG_VERSION"), built("Containerfile"));
    let (own, mut others): (Vec<_>, Vec<_>) = images(&built("compose.yaml"), "image: ")
        .into_iter()
        .partition(|image| image.starts_with("${"));
    assert_eq!(own, [format!("${{GROUPWORK_IMAGE:-groupwork:{version}}}")]);
    others.extend(images(&containerfile, "FROM "));
    let digest = format!("@sha256:{:064}", 7);
    assert!(
        others.len() == 5 && others.iter().all(|image| image.ends_with(&digest)),
        "{others:?}"
    );
    // The archive of `build-dist`; nothing is compiled.
    assert!(containerfile.contains("ADD groupwork-*-linux-*.tar.gz ") && !containerfile.contains("cargo"));
    assert!(read("packaging/build-dist").contains("name=groupwork-$version-linux-"));
    let calls = std::fs::read_to_string(&calls).unwrap();
    let end = format!("--tag groupwork:{version} {}", dist.display());
    assert!(
        calls
            .lines()
            .any(|call| call.starts_with("build ") && call.ends_with(&end)),
        "{calls}"
    );
    assert!(built("SHA256SUMS").contains("-image-"));
}

#[test]
fn document_server_has_no_network_but_that_of_the_service_and_the_proxy() {
    let compose = read("compose.yaml");
    let documents = compose.split_once("\n  documents:\n").unwrap().1;
    let documents = documents.split_once("\n\n").unwrap().0;
    assert!(documents.contains("profiles: [onlyoffice]") && documents.contains("networks: [isolated, published]"));
    assert!(!documents.contains("ports:"));
    assert_eq!(compose.matches("logging: *logging").count(), 4);
    for network in ["isolated", "published"] {
        assert!(
            compose.contains(&format!("\n  {network}:\n    internal: true")),
            "{network}"
        );
    }
}

/// Caddy accepts the shipped files, and `caddy fmt` changes nothing.
#[test]
fn shipped_caddyfiles_are_valid_and_formatted() {
    for file in ["packaging/Caddyfile", "packaging/examples/Caddyfile"] {
        let Some((_, formatted)) = run_tool("caddy", &["fmt", file]) else {
            return;
        };
        assert_eq!(formatted, read(file), "{file}");
        let arguments = ["adapt", "--validate", "--config", file, "--adapter", "caddyfile"];
        let (is_fine, text) = run_tool("caddy", &arguments).unwrap();
        assert!(is_fine, "{file}: {text}");
    }
}

/// A server that returns the head of each request after its own name. After a request to upgrade the connection it
/// returns what it receives.
struct Upstream {
    address: String,
    is_stopped: Arc<AtomicBool>,
    /// No other test gets the port after [`Self::stop`].
    _port: TcpSocket,
}

impl Upstream {
    fn start(name: &'static str) -> Self {
        let (port, address) = reserved_port();
        let listener = TcpListener::bind(address).unwrap();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = is_stopped.clone();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::spawn(move || drop(answer(stream, name)));
            }
        });
        Self {
            address: address.to_string(),
            is_stopped,
            _port: port,
        }
    }

    /// Closes the port.
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(&self.address));
    }
}

fn answer(mut stream: TcpStream, name: &str) -> std::io::Result<()> {
    let head = read_head(&mut stream)?;
    if head.to_lowercase().contains("upgrade: websocket") {
        stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")?;
        let mut echoed = [0; 4];
        stream.read_exact(&mut echoed)?;
        return stream.write_all(&echoed);
    }
    let body = format!("{name}\n{head}");
    let length = body.len();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes())
}

fn read_head(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// Caddy with a configuration on a port of this machine.
struct RunningCaddy {
    process: std::process::Child,
    port: u16,
    folder: tempfile::TempDir,
    _reserved: TcpSocket,
}

impl RunningCaddy {
    /// Starts Caddy with the configuration that `configure` returns for a port; `None` if it is not installed.
    fn start(configure: impl Fn(u16) -> String) -> Option<Self> {
        run_tool("caddy", &["version"])?;
        let (reserved, address) = reserved_port();
        let port = address.port();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Caddyfile");
        let global = "{\n\tadmin off\n\tdefault_bind 127.0.0.1\n}\n";
        std::fs::write(&file, format!("{global}{}", configure(port))).unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut command = std::process::Command::new("caddy");
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&file);
        for name in ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, folder.path());
        }
        command.env("DOMAIN", format!("http://school.test:{port}"));
        command.env("DOCS_DOMAIN", format!("http://docs.test:{port}"));
        let process = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut caddy = Self {
            process,
            port,
            folder,
            _reserved: reserved,
        };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            let is_running = caddy.process.try_wait().unwrap().is_none() && began.elapsed() < WAIT_TIMEOUT;
            let log = caddy.folder.path().join("log");
            assert!(is_running, "{}", std::fs::read_to_string(log).unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(caddy)
    }

    fn request(&self, host: &str, path: &str, more: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let port = self.port;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n{more}\r\n"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("{text:?}")), text)
    }
}

impl Drop for RunningCaddy {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[test]
fn shipped_caddyfile_forwards_requests_and_hides_internal_paths() {
    let (service, documents) = (Upstream::start("service"), Upstream::start("documents"));
    let shipped = read("packaging/Caddyfile")
        .replace("groupwork:3000", &service.address)
        .replace("documents:80", &documents.address);
    let Some(caddy) = RunningCaddy::start(|_| shipped.clone()) else {
        return;
    };
    let port = caddy.port;
    let forged = "X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Host: evil.test\r\nX-Forwarded-Proto: https\r\n";
    for (host, name) in [("school.test", "service"), ("docs.test", "documents")] {
        let (status, text) = caddy.request(host, "/web-apps/a", forged);
        assert_eq!(status, 200, "{text}");
        assert!(text.contains(&format!("\r\n\r\n{name}\nGET /web-apps/a ")), "{text}");
        for line in [
            format!("Host: {host}:{port}"),
            "X-Forwarded-For: 127.0.0.1".to_owned(),
            format!("X-Forwarded-Host: {host}:{port}"),
            "X-Forwarded-Proto: http".to_owned(),
        ] {
            assert!(text.contains(&format!("{line}\r\n")), "{line}: {text}");
        }
    }
    for path in ["/commands", "/web-apps/command", "/8.2.0-abc/web-apps/a"] {
        assert_eq!(caddy.request("docs.test", path, "").0, 200, "{path}");
    }
    // The service reaches these paths inside the network; browsers need none of them.
    for path in [
        "/command",
        "/command/",
        "/COMMAND",
        "//command",
        "/%63ommand",
        "/command?x=1",
        "/coauthoring/CommandService.ashx",
        "/coauthoring/../coauthoring/CommandService.ashx/",
        "/converter",
        "/converter/",
        "/ConvertService.ashx",
        "/info",
        "/info/info.json",
        "/internal/cleanup",
        "/example/",
        "/welcome/",
        // Addresses of the document server may begin with its version.
        "/8.2.0-abc/command",
        "/9.0.4.52/info/info.json",
    ] {
        let (status, text) = caddy.request("docs.test", path, "");
        assert_eq!(status, 404, "{path}: {text}");
        assert!(!text.contains("documents\n"), "{path} was forwarded");
    }
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        socket,
        "GET /api/socket.io/ HTTP/1.1\r\nHost: school.test:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    )
    .unwrap();
    let head = read_head(&mut socket).unwrap();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    socket.write_all(b"ping").unwrap();
    let mut echoed = [0; 4];
    socket.read_exact(&mut echoed).unwrap();
    assert_eq!(&echoed, b"ping");
}

/// The lines for Caddy in docs/operation.md: both instances get requests, and one of them suffices.
#[test]
fn documented_caddy_lines_distribute_requests_to_two_instances() {
    let upstreams = [Upstream::start("first"), Upstream::start("second")];
    let page = read("docs/operation.md");
    let lines = page.split_once("\nWith Caddy, instead of").unwrap().1;
    let lines = lines.split_once("\n\n").unwrap().1.split_once("\n\n").unwrap().0;
    let lines = lines
        .replace("groupwork-1:3000", &upstreams[0].address)
        .replace("groupwork-2:3000", &upstreams[1].address);
    let Some(caddy) = RunningCaddy::start(|port| format!("http://school.test:{port} {{\n{lines}\n}}\n")) else {
        return;
    };
    let reaches_first = || {
        let (status, text) = caddy.request("school.test", "/", "");
        assert_eq!(status, 200, "{text}");
        text.contains("\r\n\r\nfirst\n")
    };
    let began = Instant::now();
    let mut reached = std::collections::BTreeSet::new();
    while reached.len() < 2 {
        assert!(began.elapsed() < WAIT_TIMEOUT, "both instances get requests");
        reached.insert(reaches_first());
    }
    upstreams[0].stop();
    for _ in 0..20 {
        assert!(!reaches_first(), "a stopped instance responds");
    }
}

#[test]
fn alert_rules_pass_their_tests() {
    if let Some((is_fine, text)) = run_tool("promtool", &["test", "rules", "packaging/monitoring/alerts_test.yml"]) {
        assert!(is_fine, "{text}");
    }
}

/// Every metric of the dashboard and of the alert rules is one that the service exposes or that Prometheus adds.
#[test]
fn dashboard_and_alerts_use_existing_metrics() {
    let known = [read("crates/common/src/metrics.rs"), read("crates/api/src/metrics.rs")].concat();
    let used = [
        read("packaging/monitoring/grafana-dashboard.json"),
        read("packaging/monitoring/alerts.yml"),
    ]
    .concat();
    let words = used.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let names: std::collections::BTreeSet<&str> = words.filter_map(|word| word.strip_prefix("groupwork_")).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let name = ["_total", "_bucket", "_count", "_seconds"]
            .iter()
            .fold(name, |name, suffix| name.strip_suffix(suffix).unwrap_or(name));
        assert!(known.contains(&format!("\"{name}")), "groupwork_{name} is no metric");
    }
}

/// Leaves half of a program in its place; the first call goes on when `go` exists.
const SLOW_DPKG_DEB: &str = r#"#!/bin/sh
program=$3/usr/sbin/nginx
mkdir -p "${program%/*}"
echo half >"$program"
chmod +x "$program"
if mkdir "$PLAY/first" 2>/dev/null; then
  while [ -d "$PLAY/first" ] && [ ! -e "$PLAY/go" ]; do sleep 0.02; done
fi
echo whole >"$program"
"#;

/// Both tests that need nginx start `scripts/nginx-package` on a machine without it.
#[test]
fn simultaneous_downloads_of_nginx_return_a_complete_folder() {
    let root = tempfile::tempdir().unwrap();
    let place = |path: &str| root.path().join(path);
    for (path, text) in [
        ("scripts/nginx-package", read("scripts/nginx-package").as_str()),
        ("bin/apt-get", "#!/bin/sh\ntouch nginx.deb\n"),
        ("bin/dpkg-deb", SLOW_DPKG_DEB),
    ] {
        write_program(&place(path), text);
    }
    let start = || {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", r#"PATH=$PLAY/bin:$PATH exec "$PLAY/scripts/nginx-package""#]);
        command.env("PLAY", root.path()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let program = |output: std::process::Output| {
        assert!(output.status.success(), "{output:?}");
        let folder = String::from_utf8(output.stdout).unwrap();
        std::fs::read_to_string(format!("{}/usr/sbin/nginx", folder.trim())).unwrap()
    };
    let first = start();
    let began = Instant::now();
    while !place("first").exists() {
        assert!(began.elapsed() < WAIT_TIMEOUT, "the first run unpacks no package");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(program(start().wait_with_output().unwrap()), "whole\n");
    std::fs::write(place("go"), "").unwrap();
    assert_eq!(program(first.wait_with_output().unwrap()), "whole\n");
    let remaining: Vec<_> = std::fs::read_dir(place("target/tools")).unwrap().collect();
    assert_eq!(remaining.len(), 1, "{remaining:?}");
}

/// Asserts that a script played to its end, or that it named what this machine lacks.
fn assert_played(is_fine: bool, text: &str, end: &str) {
    println!("{text}");
    assert!(is_fine, "{text}");
    match text.lines().find_map(|line| line.strip_prefix("skipped: ")) {
        Some(reason) => test_support::report_skipped(reason),
        None => assert!(text.contains(end), "{text}"),
    }
}

/// Installs the package in a copy of this machine and runs every command of docs/debian.md.
#[test]
#[ignore = "long: builds and installs a package"]
fn debian_page_leads_to_first_lesson() {
    let binary = test_support::server_binary();
    let (is_fine, text) = run_tool("scripts/play-debian", &[binary.to_str().unwrap()]).unwrap();
    assert_played(is_fine, &text, "docs/debian.md: played");
}

/// Runs two instances behind nginx with PostgreSQL and an object store, and restarts and kills them.
#[test]
#[ignore = "long: make test-resilience"]
fn two_instances_behind_nginx_fail_no_request() {
    let binary = test_support::server_binary();
    let object_store = binary.with_file_name("examples").join("object-store");
    if !object_store.exists() {
        test_support::report_skipped("cargo has not built the example object-store");
        return;
    }
    let arguments = [binary.to_str().unwrap(), object_store.to_str().unwrap()];
    let (is_fine, text) = run_tool("scripts/play-nginx", &arguments).unwrap();
    assert_played(is_fine, &text, "every check held");
}

/// Returns the names of all settings.
fn setting_names() -> Vec<String> {
    let example = read("packaging/groupwork.env.example");
    let names = example
        .lines()
        .filter_map(|line| line.trim_start_matches('#').split_once('='));
    names
        .map(|(name, _)| name.to_owned())
        .filter(|name| is_setting_name(name))
        .collect()
}

fn is_setting_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

#[test]
fn manifest_for_kubernetes_names_settings_and_waits_for_the_service() {
    let manifest = read("packaging/kubernetes/groupwork.yaml");
    let known = setting_names();
    let named: Vec<&str> = manifest
        .lines()
        .filter_map(|line| line.trim().split_once(':'))
        .map(|(name, _)| name)
        .filter(|name| is_setting_name(name))
        .collect();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        assert!(known.iter().any(|setting| setting == name), "{name} is no setting");
    }
    let number = |key: &str| value(&manifest, key).trim_matches('"').parse::<u32>().unwrap();
    assert!(number("terminationGracePeriodSeconds") >= number("DRAIN_SECONDS") + 30);
    let containerfile = read("Containerfile");
    let user = number("runAsUser");
    assert!(
        containerfile.contains(&format!("--uid {user} ")),
        "the image has another user"
    );
    for path in ["/api/health/live", "/api/health/ready"] {
        assert!(
            manifest.contains(path) && read("docs/openapi.json").contains(&path["/api".len()..]),
            "{path}"
        );
    }
}
