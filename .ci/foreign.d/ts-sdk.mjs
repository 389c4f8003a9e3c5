// node ts-sdk.mjs PROGRAM DATA VERSION1 VERSION2: see ts-sdk.
import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {Client as Client1} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport as Stdio1} from '@modelcontextprotocol/sdk/client/stdio.js';
import {StreamableHTTPClientTransport as HTTP1} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {Client as Client2, StreamableHTTPClientTransport as HTTP2} from '@modelcontextprotocol/client';
import {StdioClientTransport as Stdio2} from '@modelcontextprotocol/client/stdio';
import {z} from 'zod';

const [program, data, version1, version2] = process.argv.slice(2);
const anything = z.looseObject({});
const info = {name: 'foreign', version: '1'};

// served starts `eventdeck mcp` over HTTP and resolves with its address and a function that ends it.
function served() {
  const p = spawn(program, ['mcp', '--data', data, '--listen', '127.0.0.1:0'], {stdio: ['ignore', 'ignore', 'pipe']});
  return new Promise((resolve, reject) => {
    createInterface(p.stderr).on('line', line => {
      const at = line.indexOf('listening on ');
      if (at >= 0) resolve({url: new URL(line.slice(at + 13)), end: () => new Promise(done => { p.on('exit', done); p.kill(); })});
    });
    p.on('exit', code => reject(new Error(`mcp ended with ${code}`)));
  });
}

// tried uses a client as an author of one would, and throws at the first thing that is wrong.
async function tried(client) {
  const say = (ok, what) => { if (!ok) throw new Error(what); };
  const names = (await client.listTools()).tools.map(t => t.name);
  say(names.includes('search_events'), `tools: ${names}`);
  const found = await client.callTool({name: 'search_events', arguments: {}});
  say(!found.isError && found.content?.length > 0, `search_events: ${JSON.stringify(found).slice(0, 200)}`);
  for (const wrong of [() => client.callTool({name: 'no_such_tool', arguments: {}}), () => client.request({method: 'no/such/method', params: {}}, anything)]) {
    const answer = await wrong().catch(e => e);
    say(answer instanceof Error || answer.isError, 'what does not exist succeeds');
  }
  say((await client.listTools()).tools.length === names.length, 'the session is lost after an error');
  const {events} = await client.request({method: 'events/list', params: {}}, anything);
  say(events?.length > 0, 'events/list is empty');
  const page = await client.request({method: 'events/poll', params: {name: 'eventdeck.event', arguments: {}, cursor: null}}, anything);
  say(Array.isArray(page.events) && page.cursor, `events/poll: ${JSON.stringify(page).slice(0, 200)}`);
}

let failed = 0;
async function attempt(name, version, what, connect) {
  let client;
  try {
    client = await connect();
    await tried(client);
    console.log(`${name} | ${version} | ${what} | works`);
  } catch (e) {
    failed = 1;
    console.log(`${name} | ${version} | ${what} | FAILED: ${String(e.message).split('\n')[0].slice(0, 300)}`);
  } finally {
    await client?.close();
  }
}

const env = {...process.env};
const stdio = {command: program, args: ['mcp', '--data', data], env, stderr: 'ignore'};
const requestInit = {headers: {Authorization: `Bearer ${env.EVENTDECK_MCP_TOKEN}`}};
const over = async (client, transport) => { await client.connect(transport); return client; };

const mcp = await served();
await attempt('TypeScript SDK', `@modelcontextprotocol/sdk ${version1}`, 'tools, errors, events of `eventdeck mcp` over HTTP, 2025-11-25', () => over(new Client1(info), new HTTP1(mcp.url, {requestInit})));
for (const [mode, era] of [['legacy', '2025-11-25'], ['auto', '2026-07-28']]) {
  await attempt('TypeScript SDK', `@modelcontextprotocol/client ${version2}`, `the same over HTTP, ${era}`, () => over(new Client2(info, {versionNegotiation: {mode}}), new HTTP2(mcp.url, {requestInit})));
}
await mcp.end();
await attempt('TypeScript SDK', `@modelcontextprotocol/sdk ${version1}`, 'the same over standard input and output', () => over(new Client1(info), new Stdio1(stdio)));
await attempt('TypeScript SDK', `@modelcontextprotocol/client ${version2}`, 'the same over standard input and output, 2026-07-28', () => over(new Client2(info, {versionNegotiation: {mode: 'auto'}}), new Stdio2(stdio)));
process.exit(failed);
