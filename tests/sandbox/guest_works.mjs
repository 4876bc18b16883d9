// What scripts in Node do every day, under the filter of a guest: prints "fine", or what does not work.
import assert from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { Worker } from 'node:worker_threads';

let sum = 0;
for (let i = 0; i < 2e6; i++) sum += i % 7; // long enough to be compiled
new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
await new Promise((resolve, reject) => {
  const w = new Worker('require("node:worker_threads").parentPort.postMessage(1)', { eval: true });
  w.on('message', resolve).on('error', reject);
});
assert.equal(spawnSync('/bin/echo', ['x']).stdout.toString(), 'x\n');
await new Promise((resolve, reject) => spawn('/bin/true').on('error', reject).on('close', resolve));
fs.writeFileSync('a', 'x');
fs.chmodSync('a', 0o600);
fs.copyFileSync('a', 'b');
await fs.promises.readFile('b');
crypto.scryptSync('a', 'b', 32);
os.cpus();
await new Promise((resolve, reject) => {
  net.connect(9, '127.0.0.1').on('error', resolve).on('connect', () => reject(new Error('connected')));
});
console.log('fine');
