// node oauth.mjs PROGRAM DIR VERSION: see oauth. An authorization server, a guard before a demo
// server that asks it for each token, and a browser that signs in.
import {spawn} from 'node:child_process';
import {createServer, request} from 'node:http';
import {createInterface} from 'node:readline';
import {chromium} from 'playwright-core';
import Provider from 'oidc-provider';

const [program, dir, version] = process.argv.slice(2);
const listening = server => new Promise(done => server.listen(0, '127.0.0.1', () => done(server.address().port)));

// run starts the program; line is called with each line that it prints.
function run(args, line = () => {}) {
  const p = spawn(program, args, {stdio: ['ignore', 'pipe', 'pipe']});
  let said = '';
  for (const out of [p.stdout, p.stderr]) createInterface(out).on('line', text => { said += text + '\n'; line(text); });
  p.ended = new Promise(done => p.on('close', code => done({code, said})));
  return p;
}

const pager = await new Promise(done => {
  const p = run(['demo-server', 'pager', '--seed', '1'], text => {
    const at = text.indexOf('listening on ');
    if (at >= 0) done({p, url: new URL(text.slice(at + 13))});
  });
});

// The guard is the MCP server that wants a sign-in.
let provider, issuer;
const guard = createServer(async (req, res) => {
  const here = `http://${req.headers.host}`;
  if (req.url.startsWith('/.well-known/oauth-protected-resource')) {
    res.setHeader('content-type', 'application/json');
    return res.end(JSON.stringify({resource: `${here}/mcp`, authorization_servers: [issuer], scopes_supported: ['events']}));
  }
  const [, word] = (req.headers.authorization ?? '').split('Bearer ');
  const token = word && await provider.AccessToken.find(word);
  if (!token || token.isExpired || !token.scopes.has('events')) {
    res.writeHead(401, {'www-authenticate': `Bearer resource_metadata="${here}/.well-known/oauth-protected-resource/mcp", scope="events"`});
    return res.end();
  }
  const {authorization, ...headers} = req.headers;
  const through = request({host: pager.url.hostname, port: pager.url.port, path: req.url, method: req.method, headers: {...headers, host: pager.url.host}}, answer => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  through.on('error', () => res.destroy());
  res.on('close', () => through.destroy());
  req.pipe(through);
});
const resource = `http://127.0.0.1:${await listening(guard)}/mcp`;

const front = createServer((req, res) => provider.callback()(req, res));
issuer = `http://127.0.0.1:${await listening(front)}`;
provider = new Provider(issuer, {
  scopes: ['openid', 'offline_access', 'events'],
  clientDefaults: {grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none'},
  features: {
    registration: {enabled: true}, revocation: {enabled: true}, devInteractions: {enabled: true},
    resourceIndicators: {
      enabled: true, defaultResource: () => resource, useGrantedResource: () => true,
      getResourceServerInfo: () => ({scope: 'events', accessTokenFormat: 'opaque', accessTokenTTL: 60}),
    },
  },
  issueRefreshToken: () => true,
  ttl: {AccessToken: 60, RefreshToken: 3600, Grant: 3600, Interaction: 600, Session: 3600},
});
provider.on('server_error', (_, e) => console.error(e));

let failed = 0;
async function attempt(what, how) {
  try {
    await how();
    console.log(`OAuth server, Chromium | ${version} | ${what} | works`);
  } catch (e) {
    failed = 1;
    console.log(`OAuth server, Chromium | ${version} | ${what} | FAILED: ${String(e.message).replaceAll('\n', ' ').slice(0, 400)}`);
  }
}
const say = (ok, what) => { if (!ok) throw new Error(what); };
const data = ['--data', `${dir}/data`];

await attempt('a server that needs a sign-in: exit 4, and the command that mends it', async () => {
  const {code, said} = await run(['types', resource, ...data]).ended;
  say(code === 4 && said.includes('sign-in'), `exit ${code}: ${said}`);
});

await attempt('sign-in in a browser: metadata, registration, PKCE, login, consent', async () => {
  const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-background-networking', '--disable-sync']});
  try {
    let opened;
    const p = run(['sign-in', resource, '--no-browser', ...data], text => {
      if (text.startsWith(issuer)) opened = visit(browser, text);
    });
    const {code, said} = await p.ended;
    await opened;
    say(code === 0, `exit ${code}: ${said}`);
  } finally {
    await browser.close();
  }
});

async function visit(browser, address) {
  const page = await browser.newPage();
  await page.goto(address);
  await page.fill('input[name=login]', 'operator');
  await page.fill('input[name=password]', 'anything');
  await page.click('button[type=submit]');
  await page.waitForSelector('button:has-text("Continue")');
  await page.click('button:has-text("Continue")');
  await page.waitForURL(url => !url.href.startsWith(issuer));
}

await attempt('events with the token', async () => {
  const {code, said} = await run(['tail', resource, 'incident.changed', '--count', '1', '--for', '60s', '--json', ...data]).ended;
  say(code === 0 && said.includes('"kind":"event"'), `exit ${code}: ${said}`);
});

await attempt('sign-out revokes the token', async () => {
  const {code, said} = await run(['sign-out', resource, ...data]).ended;
  say(code === 0, `exit ${code}: ${said}`);
  const after = await run(['types', resource, ...data]).ended;
  say(after.code === 4, `afterwards exit ${after.code}: ${after.said}`);
});

pager.p.kill();
guard.closeAllConnections();
front.closeAllConnections();
guard.close();
front.close();
process.exit(failed);
