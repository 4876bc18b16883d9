// What the attack suite is expected to find open, and the tables that are made of what it finds. Used by
// py_attack.test.mjs, which holds the pages to it, and by tools/isolation-table, which writes them.

export const BACKENDS = ["bwrap", "landlock", "oci", "wasm", "wasm alone", "managed"];

// Groups of attempts by what they would mean for people; in the order of the table.
export const ROWS = [
  ["read", "files of yours are read: home, workspace, other jobs, temporary files"],
  ["names", "names, sizes and changes of such files are learnt"],
  ["write", "files of yours are changed, made, moved or removed"],
  ["own", "the script's own code and inputs are changed for later"],
  ["state", "the journal, the settings and the packages of alisio are read or changed"],
  ["system", "accounts, devices and settings of the system are read or changed"],
  ["network", "the network: internet, this computer's ports, names, raw sockets"],
  ["sockets", "programs that listen on a socket with a path or a name (agents, D-Bus, Docker, alisio)"],
  ["see", "other processes are seen: list, environment, memory, descriptors"],
  ["touch", "other processes are ended, slowed down or limited"],
  ["secrets", "keys in the environment of alisio, and descriptors that it holds"],
  ["become", "rights are gained: another user, capabilities, programs with rights, devices"],
  ["namespaces", "namespaces and mounts are made or changed"],
  ["kernel", "calls by which kernels have been broken (io_uring, keyrings, bpf, 32-bit calls, …)"],
  ["terminal", "something is typed into a terminal"],
  ["limits", "disk, memory, processes and open files are taken beyond the limits"],
  ["after", "a process stays when the run is over"],
  ["output", "a link in the output folder publishes another file"],
  ["bridge", "JavaScript around Python in WebAssembly gives more than Python has"],
  ["leak", "what the script can read leaves through its output"],
];

// What is open, and that alone: an attempt that gets through unexpectedly fails the test, and so does one that no longer does.
const LEAK = "what_is_read_leaves_as_output";
export const OPEN = {
  bwrap: ["places_of_mounts", LEAK],
  landlock: ["ask_whether_file_exists", "ask_whether_process_exists", LEAK],
  oci: ["places_of_mounts", LEAK],
  wasm: ["js_web_assembly", LEAK],
  "wasm alone": ["js_socket", "js_socket_by_path", "js_abstract_socket", "js_web_assembly", LEAK],
  managed: [
    "read_home", "read_workspace", "read_temporary_files", "read_other_job", "read_by_dots", "read_by_root_of_self",
    "read_through_link_made_now", "read_through_link_planted_before", "run_program_of_home", "list_home",
    "list_jobs", "ask_whether_file_exists", "watch_home", "write_home", "add_to_home", "add_to_temporary_files",
    "write_workspace", "add_to_other_job", "write_through_link", "make_folder_outside", "remove_file", "rename_file",
    "cut_file", "change_mode", "change_times", "change_mode_of_open_file", "write_own_script", "add_to_script",
    "write_own_input", "read_journal", "write_journal", "read_settings",
    "write_settings", "add_to_state", "add_to_packages", "remove_other_job", "read_accounts", "tcp_to_loopback",
    "udp_to_loopback", "cloud_metadata", "name_lookup", "listen_for_others", "socket_by_path",
    "control_socket_of_alisio", "datagram_by_path", "abstract_socket", "abstract_datagram", "datagram_of_a_pair", "list_processes",
    "ask_whether_process_exists", "fill_memory", "fill_disk",
    "fill_disk_with_small_files", "many_processes", "large_file", LEAK,
  ],
};

// With no wall around it, a script meets what this computer and its kernel let an ordinary user do: these go either way.
const ROWS_OF_THE_MACHINE = { managed: ["see", "touch", "namespaces", "kernel", "terminal", "after"] };
const OF_THE_MACHINE = {
  "wasm alone": ["js_signal", "js_debug_process", "js_report_of_process"],
  managed: [
    "gain_by_program", "read_by_swapped_link", "read_by_hard_link", "move_file_out", "set_attribute", "write_script_by_hard_link", "read_by_root_of_parent", "read_name_servers",
    "tcp6_to_loopback", "tcp_to_this_computer", "tcp_by_another_protocol", "tcp_fast_open", "raw_socket", "network_interfaces", "crypto_socket",
    "virtual_machine_socket", "many_open_files", "places_of_mounts", "program_of_first_process", "reopen_output_for_reading",
  ],
};

// In words for people, of what stays open behind a wall.
const WORDS = {
  places_of_mounts: "where its folders lie on this computer",
  ask_whether_file_exists: "whether a file is there, and its size",
  ask_whether_process_exists: "whether a process is there",
  js_socket: "**the network**, by JavaScript",
  js_socket_by_path: "sockets with a path, by JavaScript",
  js_abstract_socket: "sockets with a name, by JavaScript",
  js_report_of_process: "network interfaces with their addresses",
  js_web_assembly: "WebAssembly may be compiled, which computes and reaches nothing",
};

// Where the machine decides.
const NAMESPACE = "limited: where the system allows a process namespace, the script has one, and reaches only its own; else **open**";
const MACHINE = {
  "wasm alone": { touch: NAMESPACE, system: "limited: network interfaces with their addresses" },
  managed: {
    touch: NAMESPACE,
    become: "limited: programs with rights (sudo, su) work as they do for you",
    namespaces: "limited: what the kernel lets you",
    kernel: "limited: what the kernel lets you",
    terminal: "limited: what the kernel lets you",
    after: "limited: refused where the system allows a process namespace; else a script that ends its supervisors can leave a process",
    limits: "**open**: only the time is limited",
  },
};

export const isKnown = (backend, name, row) =>
  OF_THE_MACHINE[backend]?.includes(name) || ROWS_OF_THE_MACHINE[backend]?.includes(row) || false;

// What is not as written above, as lines for a person.
export function surprises({ backend, attempts }) {
  const found = [];
  for (const { name, row, result, got } of attempts) {
    if (result === "strange") found.push(`${name} failed in itself: ${got}`);
    else if (result === "open" && !OPEN[backend].includes(name) && !isKnown(backend, name, row)) found.push(`${name} is open: ${got}`);
    else if (result === "refused" && OPEN[backend].includes(name) && !isKnown(backend, name, row)) found.push(`${name} is refused: ${got}`);
  }
  return found;
}

function cell({ backend, attempts }, row) {
  // The host does it, whatever is around Node.js.
  if (backend === "wasm alone" && !attempts.some((a) => a.row === row)) return "as wasm";
  const tried = attempts.filter((a) => a.row === row && a.result !== "not applicable");
  const open = tried.filter((a) => a.result === "open");
  if (MACHINE[backend]?.[row]) return MACHINE[backend][row];
  if (tried.length === 0) return "does not apply";
  if (open.length === 0) return "refused";
  if (row === "leak" || backend === "managed") return "**open**";
  return `limited: ${open.map((a) => WORDS[a.name] ?? a.name).join("; ")}`;
}

// {row: {backend: cell}}
export const matrix = (results) =>
  Object.fromEntries(ROWS.map(([row]) => [row, Object.fromEntries(results.map((r) => [r.backend, cell(r, row)]))]));

const BEGIN = "<!-- made by tools/isolation-table -->";
const END = "<!-- end of what tools/isolation-table made -->";

// Puts a table between the marks, or says that they are missing.
export function replaceBetween(text, table) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`the marks "${BEGIN}" and "${END}" are missing`);
  return `${text.slice(0, from + BEGIN.length)}\n\n${table}\n${text.slice(to)}`;
}

const line = (cells) => `| ${cells.join(" | ")} |\n`;

// The table of docs/isolation.md.
export function fullTable(results) {
  const m = matrix(results);
  let out = line(["what a script might want", ...BACKENDS]) + line(Array(BACKENDS.length + 1).fill("---"));
  for (const [row, words] of ROWS) out += line([words, ...BACKENDS.map((b) => m[row][b] ?? "")]);
  return out;
}

const WALLS = {
  bwrap: "fresh namespaces with a listed set of files; inside, no capabilities, Landlock, a system call filter and limits",
  landlock: "Landlock, a system call filter without sockets, and limits; no namespaces",
  oci: "a container without network and capabilities, read-only, with our system call filter and limits",
  wasm: "WebAssembly in Node.js under its permission model, inside of bwrap, or else of Landlock",
  "wasm alone": "Node.js's permission model, where there is neither bubblewrap nor Landlock",
  managed: "**none**: it runs with your rights; the time is limited",
};

// That of the README: a line for each back end. The last thing is the same for all of them, and stands below it there.
export function shortTable(results) {
  let out = line(["`python_run` in", "wall", "what stays open"]) + line(["---", "---", "---"]);
  for (const backend of BACKENDS) {
    const r = results.find((x) => x.backend === backend);
    const open = r ? r.attempts.filter((a) => a.result === "open" && a.row !== "leak" && !OF_THE_MACHINE[backend]?.includes(a.name)).map((a) => WORDS[a.name] ?? a.name) : [];
    out += line([`\`${backend}\``, WALLS[backend], backend === "managed" ? "everything that you may do" : open.join("; ") || "nothing that the suite tries"]);
  }
  return out;
}

// The cells of a table in a page, by the first cell of their line; a line for people, with the marks around it.
export function readTable(text) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  const lines = text.slice(from, to).split("\n").filter((l) => l.startsWith("| "));
  const [head, , ...body] = lines.map((l) => l.slice(2, -2).split(" | "));
  return { head: head ?? [], body };
}
