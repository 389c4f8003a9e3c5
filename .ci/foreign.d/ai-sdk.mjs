// The cases of ai-sdk: node ai-sdk.mjs EVENTDECK DIR VERSION. DIR has key.pem and cert.pem.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { experimental_createMCPEventWebhook as createWebhook, createMCPClient } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';

const [eventdeck, dir, version] = process.argv.slice(2);
const token = randomBytes(32).toString('hex');
const env = { ...process.env, EVENTDECK_MCP_TOKEN: token };
const children = [];
let failed = false;
process.on('exit', () => children.forEach(child => child.kill('SIGTERM')));

// serve starts a server and returns the URL on which it says that it listens.
function serve(...args) {
  const child = spawn(eventdeck, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let said = '';
    child.stderr.on('data', text => {
      const url = /listening on (http:\S+)/.exec((said += text));
      if (url) resolve(url[1]);
    });
    child.on('exit', code => reject(new Error(`${args.join(' ')}: exit ${code}: ${said}`)));
  });
}

function check(what, ok) {
  if (!ok) throw new Error(what);
}

async function within(promise, what) {
  const late = AbortSignal.timeout(60_000);
  return Promise.race([promise, new Promise((_, no) => late.addEventListener('abort', () => no(new Error(`${what}: not within 60 s`))))]);
}

// attempt runs a case and prints its line.
async function attempt(name, tried, run) {
  let verdict = 'works';
  try {
    await within(run(), name);
  } catch (err) {
    failed = true;
    verdict = `FAILED: ${String(err?.message ?? err).replaceAll('\n', ' ')}`;
  }
  console.log(`AI SDK, ${name} | @ai-sdk/mcp ${version} | ${tried} | ${verdict}`);
}

// newStore returns a store of subscriptions, which the SDK leaves to the application.
function newStore() {
  const all = new Map();
  return {
    get: async key => all.get(key),
    getById: async id => [...all.values()].find(s => s.id === id),
    set: async s => void all.set(s.key, s),
    update: async (key, patch) => void all.set(key, { ...all.get(key), ...patch }),
    delete: async key => void all.delete(key),
    size: () => all.size,
  };
}

// receiver takes deliveries by HTTPS with the webhook handler of the SDK.
async function receiver(store) {
  const waiting = [];
  const events = [];
  const handle = createWebhook({
    store,
    onEvent: async ({ event }) => {
      events.push(event);
      waiting.splice(0).forEach(wake => wake());
    },
  });
  const server = createServer({ key: readFileSync(`${dir}/key.pem`), cert: readFileSync(`${dir}/cert.pem`) }, async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const answer = await handle(new Request(`https://127.0.0.1${req.url}`, { method: req.method, headers: req.headers, body: Buffer.concat(chunks) }));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.end(await answer.text());
  });
  await new Promise(listens => server.listen(0, '127.0.0.1', listens));
  return {
    url: `https://127.0.0.1:${server.address().port}/hook`,
    close: () => server.close(),
    // reach waits for the n-th event.
    reach: async n => {
      while (events.length < n) await new Promise(wake => waiting.push(wake));
      return events;
    },
  };
}

// webhook subscribes, waits for events, refreshes and ends the subscription.
async function webhook(client, store, name, cursor) {
  const hook = await receiver(store);
  try {
    const granted = await client.experimental_events.subscribe({ name, cursor, delivery: { mode: 'webhook', url: hook.url } });
    const events = await hook.reach(3);
    check('other events came', events.every(e => e.name === name && e.eventId && e.data));
    check('an event came twice', new Set(events.map(e => e.eventId)).size === events.length);
    const again = await client.experimental_events.refresh({ id: granted.id });
    check('the refresh has another id', again.id === granted.id);
    await client.experimental_events.unsubscribe({ id: granted.id });
    check('the subscription is still stored', store.size() === 0);
  } finally {
    hook.close();
  }
}

// overHTTP makes a client of a URL, with discovery or with initialize.
function overHTTP(url, discovers, store, bearer) {
  return createMCPClient({
    transport: { type: 'http', url, headers: bearer ? { Authorization: `Bearer ${bearer}` } : {} },
    protocolVersionDiscovery: discovers,
    experimental_events: { store },
  });
}

// tools calls a tool, and one that does not exist, after which the session must go on.
async function tools(client) {
  const all = await client.listTools();
  check('no tool search_events', all.tools.some(t => t.name === 'search_events'));
  const found = await client.callTool({ name: 'search_events', arguments: { limit: 3 } });
  check('no events found', found.structuredContent?.events?.length === 3);
  const wrong = await client.callTool({ name: 'gone', arguments: {} }).catch(err => err);
  check(`an unknown tool: ${wrong}`, wrong.code === -32602);
  await client.listTools();
}

// list finds a type, on whatever page it is.
async function list(client, name) {
  let page;
  do {
    page = await client.experimental_events.list({ params: { cursor: page?.nextCursor } });
  } while (page.nextCursor && !page.events.some(e => e.name === name));
  check(`${name} is not listed`, page.events.some(e => e.name === name));
}

const pager = await serve('demo-server', 'pager', '--listen', '127.0.0.1:0', '--rate', '20', '--ca', `${dir}/cert.pem`);
const data = ['--data', `${dir}/data`];
const filled = spawnSync(eventdeck, ['tail', pager, 'load.tick', '--count', '20', ...data], { env, encoding: 'utf8' });
check(`tail: ${filled.stderr}`, filled.status === 0);
const deck = await serve('mcp', ...data, '--listen', '127.0.0.1:0', '--callbacks-on-loopback', '--callback-ca', `${dir}/cert.pem`);

for (const [era, discovers] of [['2026-07-28', true], ['2025-11-25', false]]) {
  await attempt(`eventdeck mcp, ${era}`, 'HTTP: events/list, subscribe, deliveries, refresh, unsubscribe; tools, an unknown one', async () => {
    const store = newStore();
    const client = await overHTTP(deck, discovers, store, token);
    check(`it speaks ${client.initializeResult.protocolVersion}`, client.initializeResult.protocolVersion === era);
    await list(client, 'eventdeck.event');
    const { _meta } = await client.experimental_events.list();
    await webhook(client, store, 'eventdeck.event', _meta['eventdeck/positions'].oldest);
    await tools(client);
    await client.close();
  });
}

await attempt('eventdeck mcp, stdio', 'beside the process with the store: events/list; tools, an unknown one', async () => {
  const client = await createMCPClient({ transport: new StdioMCPTransport({ command: eventdeck, args: ['mcp', ...data], env, stderr: 'ignore' }) });
  await list(client, 'eventdeck.event');
  await tools(client);
  await client.close();
});

await attempt('demo-server pager', 'HTTP: events/list, subscribe, deliveries, refresh, unsubscribe', async () => {
  const store = newStore();
  const client = await overHTTP(pager, true, store);
  await list(client, 'load.tick');
  await webhook(client, store, 'load.tick', null);
  await client.close();
});

await attempt('demo-server chat', 'stdio: events/list', async () => {
  const client = await createMCPClient({ transport: new StdioMCPTransport({ command: eventdeck, args: ['demo-server', 'chat'], env, stderr: 'ignore' }) });
  await list(client, 'message.posted');
  await client.close();
});

process.exit(failed ? 1 : 0);
