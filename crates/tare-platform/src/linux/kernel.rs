//! Which kernel, how it was built and booted, and which layer stands in for it; all from texts.

/// What a kernel says about its preemption model, wherever it does.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PreemptionSources<'a> {
    /// /sys/kernel/debug/sched/preempt: `none voluntary (full) lazy`.
    pub(super) debug: Option<&'a str>,
    /// /proc/cmdline, for `preempt=`.
    pub(super) command_line: Option<&'a str>,
    /// `uname -v`.
    pub(super) version: Option<&'a str>,
    /// The kernel's build configuration.
    pub(super) config: Option<&'a str>,
}

impl PreemptionSources<'_> {
    /// `none`, `voluntary`, `full`, `lazy` or `rt`: the running state first, then what was booted,
    /// then what was built (PREEMPT_DYNAMIC only says that it can be chosen).
    pub(super) fn model(&self) -> Option<String> {
        let version = self.version.unwrap_or_default();
        if version.contains("PREEMPT_RT") || version.contains("PREEMPT RT") {
            return Some("rt".into());
        }
        if let Some(model) = self.debug.and_then(|text| between(text, '(', ')')) {
            return Some(model);
        }
        let dynamic = version.contains("PREEMPT_DYNAMIC");
        let booted = boot_option(self.command_line.unwrap_or_default(), "preempt");
        match booted.filter(|_| dynamic) {
            Some(model @ ("none" | "voluntary" | "full" | "lazy")) => Some(model.into()),
            _ => self.built().or_else(|| {
                (!dynamic && version.split_whitespace().any(|word| word == "PREEMPT"))
                    .then(|| "full".into())
            }),
        }
    }

    fn built(&self) -> Option<String> {
        const MODELS: [(&str, &str); 5] = [
            ("CONFIG_PREEMPT_RT=y", "rt"),
            ("CONFIG_PREEMPT=y", "full"),
            ("CONFIG_PREEMPT_LAZY=y", "lazy"),
            ("CONFIG_PREEMPT_VOLUNTARY=y", "voluntary"),
            ("CONFIG_PREEMPT_NONE=y", "none"),
        ];
        let config = self.config?;
        let set = |option: &str| config.lines().any(|line| line.trim() == option);
        MODELS.iter().find(|(option, _)| set(option)).map(|(_, model)| (*model).to_owned())
    }
}

/// The last value of `name=value` on a command line.
pub(super) fn boot_option<'a>(command_line: &'a str, name: &str) -> Option<&'a str> {
    let value = |word: &'a str| word.strip_prefix(name)?.strip_prefix('=');
    command_line.split_ascii_whitespace().rev().find_map(value)
}

/// The text between the first `open` and the `close` after it: how /sys marks the choice in use.
pub(super) fn between(text: &str, open: char, close: char) -> Option<String> {
    let inner = text.split_once(open)?.1.split_once(close)?.0.trim();
    (!inner.is_empty()).then(|| inner.to_owned())
}

/// Release and version (`uname -r`, `uname -v`) out of /proc/version: `Linux version RELEASE ...
/// #VERSION`.
pub(super) fn release_and_version(text: &str) -> (Option<String>, Option<String>) {
    let release = text.strip_prefix("Linux version ").and_then(|rest| rest.split(' ').next());
    let version = text.rfind(" #").map(|at| text[at + 1..].trim().to_owned());
    (release.filter(|release| !release.is_empty()).map(str::to_owned), version)
}

/// Name of the distribution out of os-release(5).
pub(super) fn distribution(text: &str) -> Option<String> {
    let value = |name: &str| {
        let line = text.lines().rev().find_map(|line| line.trim().strip_prefix(name));
        let value = line?.strip_prefix('=')?.trim();
        let bare = ['"', '\''].iter().find_map(|quote| {
            value.strip_prefix(*quote).and_then(|value| value.strip_suffix(*quote))
        });
        Some(bare.unwrap_or(value).to_owned()).filter(|value| !value.is_empty())
    };
    value("PRETTY_NAME").or_else(|| match (value("NAME"), value("VERSION")) {
        (Some(name), Some(version)) => Some(format!("{name} {version}")),
        (name, _) => name,
    })
}

/// Traces that container runtimes and compatibility layers leave.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ContainerTraces<'a> {
    /// `uname -r` and `uname -v`.
    pub(super) release: &'a str,
    pub(super) version: &'a str,
    /// This process lives in the namespaces that the kernel made at boot.
    pub(super) namespaces_of_boot: bool,
    /// /.dockerenv is there.
    pub(super) docker_file: bool,
    /// /run/.containerenv is there.
    pub(super) podman_file: bool,
    /// /run/systemd/container or /run/host/container-manager.
    pub(super) manager: Option<&'a str>,
    /// /proc/1/environ, where it may be read.
    pub(super) environment: Option<&'a str>,
    /// /proc/self/cgroup.
    pub(super) cgroup: Option<&'a str>,
}

/// gVisor's fixed `uname -v` (its pkg/sentry/syscalls/linux, `LinuxVersion`); newer ones say gvisor
/// in the release.
const GVISOR_VERSION: &str = "#1 SMP Sun Jan 10 15:06:54 PST 2016";

impl ContainerTraces<'_> {
    /// Name of the runtime or layer; `none` if it left no trace that is known here. The innermost
    /// layer, the one that shapes the time, comes first: gVisor inside Docker is `gvisor`.
    pub(super) fn name(&self) -> String {
        if self.release.to_lowercase().contains("gvisor") || self.version == GVISOR_VERSION {
            return "gvisor".into();
        }
        if self.namespaces_of_boot {
            // A virtual machine made of a container's image keeps the files of one.
            return self.by_release().unwrap_or_else(|| "none".into());
        }
        let variable = |entry: &str| entry.strip_prefix("container=").map(str::to_owned);
        let told = self.environment.and_then(|text| text.split('\0').find_map(variable));
        let told = told.or_else(|| self.manager.map(str::to_owned));
        let told = told.filter(|name| !name.is_empty());
        let by_file = [(self.podman_file, "podman"), (self.docker_file, "docker")];
        let by_file = by_file.iter().find(|(there, _)| *there).map(|(_, name)| (*name).to_owned());
        told.or(by_file)
            .or_else(|| self.by_cgroup())
            .or_else(|| self.by_release())
            .unwrap_or_else(|| "none".into())
    }

    fn by_cgroup(&self) -> Option<String> {
        const PARTS: [(&str, &str); 5] = [
            ("kubepods", "kubernetes"),
            ("docker", "docker"),
            ("libpod", "podman"),
            ("lxc", "lxc"),
            ("containerd", "containerd"),
        ];
        // A process of the Docker service itself lives in docker.service: no container.
        let inside = |part: &&str| {
            !part.ends_with(".service") && !part.ends_with(".slice") || part.starts_with("kubepods")
        };
        let paths = self.cgroup?.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        let parts: Vec<&str> = paths.flat_map(|path| path.split('/')).filter(inside).collect();
        let known = |(mark, _): &&(&str, &str)| parts.iter().any(|part| part.starts_with(mark));
        PARTS.iter().find(known).map(|(_, name)| (*name).to_owned())
    }

    fn by_release(&self) -> Option<String> {
        self.release.to_lowercase().contains("microsoft").then(|| "wsl".into())
    }
}

/// Vendor and product of the firmware's tables that name a hypervisor, for CPUs that do not.
pub(super) fn hypervisor_of_firmware(vendor: &str, product: &str) -> Option<&'static str> {
    const MARKS: [(&str, &str); 9] = [
        ("KVM", "kvm"),
        ("OpenStack", "kvm"),
        ("Amazon EC2", "amazon"),
        ("Google", "google"),
        ("QEMU", "qemu"),
        ("VMware", "vmware"),
        ("innotek GmbH", "virtualbox"),
        ("Parallels", "parallels"),
        ("Apple Virtualization", "apple"),
    ];
    // Amazon names its bare-metal machines the same way, but for their product.
    if product.contains(".metal") {
        return None;
    }
    let known = |mark: &str| product.starts_with(mark) || vendor.starts_with(mark);
    MARKS.iter().find(|(mark, _)| known(mark)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_running_preemption_model_beats_what_was_booted_and_built() {
        let all = PreemptionSources {
            debug: Some("none voluntary (full) lazy\n"),
            command_line: Some("quiet preempt=voluntary"),
            version: Some("#1 SMP PREEMPT_DYNAMIC"),
            config: Some("CONFIG_PREEMPT_NONE=y\n"),
        };
        assert_eq!(all.model().as_deref(), Some("full"));
        let booted = PreemptionSources { debug: None, ..all };
        assert_eq!(booted.model().as_deref(), Some("voluntary"));
        let built = PreemptionSources { command_line: Some("quiet"), ..booted };
        assert_eq!(built.model().as_deref(), Some("none"));
        assert_eq!(PreemptionSources { config: None, ..built }.model(), None);
        let rt = PreemptionSources { version: Some("#1 SMP PREEMPT_RT Debian"), ..all };
        assert_eq!(rt.model().as_deref(), Some("rt"));
    }

    #[test]
    fn older_kernels_say_preempt_or_nothing() {
        let version = |version| PreemptionSources { version: Some(version), ..Default::default() };
        assert_eq!(version("#1 SMP PREEMPT Mon").model().as_deref(), Some("full"));
        assert_eq!(version("#1 SMP Mon").model(), None, "voluntary and none look the same");
        let ignored = PreemptionSources { command_line: Some("preempt=full"), ..version("#1 SMP") };
        assert_eq!(ignored.model(), None, "only PREEMPT_DYNAMIC takes the option");
    }

    #[test]
    fn takes_proc_version_apart() {
        let debian = "Linux version 6.1.0-13-amd64 (debian-kernel@lists.debian.org) (gcc-12) #1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1\n";
        let (release, version) = release_and_version(debian);
        assert_eq!(release.as_deref(), Some("6.1.0-13-amd64"));
        assert_eq!(version.as_deref(), Some("#1 SMP PREEMPT_DYNAMIC Debian 6.1.55-1"));
        assert_eq!(release_and_version("odd"), (None, None));
    }

    #[test]
    fn reads_os_release_with_and_without_quotes() {
        let debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian\"\n";
        assert_eq!(distribution(debian).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(distribution("NAME=Void\n").as_deref(), Some("Void"));
        assert_eq!(distribution("NAME='A'\nVERSION=\"7\"").as_deref(), Some("A 7"));
        assert_eq!(distribution("PRETTY_NAME=\"\"\n"), None);
    }

    #[test]
    fn knows_containers_by_their_traces() {
        let bare = ContainerTraces { release: "6.1.0", version: "#1 SMP", ..Default::default() };
        assert_eq!(bare.name(), "none");
        let docker = ContainerTraces { docker_file: true, ..bare };
        assert_eq!(docker.name(), "docker");
        assert_eq!(ContainerTraces { namespaces_of_boot: true, ..docker }.name(), "none");
        let gvisor = ContainerTraces { docker_file: true, version: GVISOR_VERSION, ..bare };
        assert_eq!(gvisor.name(), "gvisor");
        assert_eq!(ContainerTraces { release: "4.19.0-gvisor", ..bare }.name(), "gvisor");
        let wsl = ContainerTraces { release: "5.15.90.1-microsoft-standard-WSL2", ..bare };
        assert_eq!(wsl.name(), "wsl");
        let lxc = ContainerTraces { environment: Some("TERM=linux\0container=lxc\0"), ..bare };
        assert_eq!(lxc.name(), "lxc");
        let cgroup = |cgroup| ContainerTraces { cgroup: Some(cgroup), ..bare }.name();
        assert_eq!(
            cgroup("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-ab.scope"),
            "kubernetes"
        );
        assert_eq!(cgroup("1:cpu:/docker/0123\n0::/"), "docker");
        assert_eq!(
            cgroup("0::/system.slice/docker.service"),
            "none",
            "the service is no container"
        );
    }

    #[test]
    fn firmware_names_hypervisors_and_bare_metal_does_not() {
        assert_eq!(hypervisor_of_firmware("QEMU", "KVM Virtual Machine"), Some("kvm"));
        assert_eq!(hypervisor_of_firmware("Amazon EC2", "c6g.large"), Some("amazon"));
        assert_eq!(hypervisor_of_firmware("Amazon EC2", "c6g.metal"), None);
        assert_eq!(hypervisor_of_firmware("LENOVO", "20XW"), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,80}", other in "[ #()=\"A-Z_a-z\n:/]{0,80}") {
            for (a, b) in [(&text, &other), (&other, &text)] {
                let sources = PreemptionSources {
                    debug: Some(a), command_line: Some(b), version: Some(a), config: Some(b),
                };
                let traces = ContainerTraces { cgroup: Some(a), environment: Some(b), ..Default::default() };
                let _ = (sources.model(), release_and_version(a), distribution(a), traces.name());
            }
        }
    }
}
