/* The program that Node.js runs, in the binary. */
#include "pyrun/wasm_int.h"

__asm__(".pushsection .rodata\n"
        "al_wasm_runner_start:\n"
        ".incbin \"" AL_WASM_RUNNER "\"\n"
        "al_wasm_runner_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char al_wasm_runner_start[], al_wasm_runner_end[];

struct al_str al_wasm_runner(void)
{
    return (struct al_str){al_wasm_runner_start, (size_t)(al_wasm_runner_end - al_wasm_runner_start)};
}

/* The Permission Model has no network before Node.js 25, and our runner takes names away, not rights: a
 * socket's class is still to be had from the standard output. Files are asked for where Pyodide's own file
 * system can mount them. */
const char al_wasm_probe_script[] =
    "import json, os, sys\n"
    "from pyodide.code import run_js\n"
    "import pyodide_js\n"
    "told = json.load(open(os.path.join(os.environ['ALISIO_INPUT_DIR'], 'probe.json')))\n"
    "reached = {'network': [], 'files': [], 'processes': []}\n"
    "def attempt(kind, name, fn):\n"
    "    try:\n"
    "        if fn():\n"
    "            reached[kind].append(name)\n"
    "    except BaseException:\n"
    "        pass\n"
    "def connect():\n"
    "    wanted = '''(port) => { const S = [process.stdout, process.stderr, process.stdin].map((s) => "
    "s.constructor)\n"
    "        .find((c) => typeof c.prototype.connect === 'function'); if (!S) return false;\n"
    "        const s = new S(); s.on('error', () => {}); s.connect(port, '127.0.0.1'); return false; }'''\n"
    "    return run_js(wanted)(told['tcp'])  # whether it arrived is seen there\n"
    "attempt('network', 'tcp', connect)\n"
    "attempt('network', 'fetch', lambda: run_js('typeof fetch') == 'function')\n"
    "def mount():\n"
    "    fs = pyodide_js.FS\n"
    "    fs.mkdirTree('/host')\n"
    "    fs.mount(fs.filesystems.NODEFS, run_js('({root: \"/\"})'), '/host')\n"
    "attempt('files', 'mount', mount)\n"
    "attempt('files', 'read', lambda: open('/host' + told['canary']).read() == told['secret'])\n"
    "attempt('files', 'list', lambda: os.path.basename(told['canary']) in\n"
    "        os.listdir(os.path.dirname('/host' + told['canary'])))\n"
    "attempt('files', 'write', lambda: open('/host' + told['write'], 'w').write('x') == 1)\n"
    "attempt('processes', 'signal', lambda: run_js('(pid) => process._kill(pid, 0)')(told['pid']) == 0)\n"
    "attempt('processes', 'child', lambda: run_js('typeof process.binding(\"process_wrap\")') == 'object')\n"
    "print(json.dumps(dict(reached, python='%d.%d.%d' % sys.version_info[:3])))\n";
