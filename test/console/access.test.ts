import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { start } from 'orch'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { askPort, openPage } from './page.ts'

/** One server for all tests of the file; each test opens other links. */
let server: Awaited<ReturnType<typeof start>>

beforeAll(async () => {
  server = await start({ console: true, control: true, profile: 'kubernetes' })
  return () => server.stop()
})

test('a link opens one session, which acts as the user of the link', async () => {
  const link = await server.console()
  const { opened, ask } = await openPage(link)
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/#ticket=[\w-]{43}$/)
  expect(String(opened.headers['set-cookie'])).toMatch(
    /^console-session-\d+=[\w-]{43}; Path=\/console\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  )
  await expect(openPage(link)).rejects.toThrow('401')
  const review = await ask('/console/api/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  })
  expect(review.status).toBe(201)
  expect(JSON.parse(review.text).status.userInfo.username).toBe(JSON.parse(opened.text).user.name)
})

test('a session has exactly the rights of its user', async () => {
  const rules = [
    { nonResourceURLs: ['/console/ticket'], verbs: ['post'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  ]
  const viewer = server.user('viewer', { rules })
  const { url } = await viewer.client.request<{ url: string }>({ method: 'POST', path: '/console/ticket' })
  const { ask } = await openPage(url)
  expect((await ask('/console/api/api/v1/pods')).status).toBe(200)
  const refused = await ask('/console/api/api/v1/secrets')
  expect(refused.status).toBe(403)
  expect(JSON.parse(refused.text).message).toContain('User "viewer" cannot list resource "secrets"')
  const watches = await ask('/console/watches', { method: 'POST', body: { watches: { s: { path: '/api/v1/secrets?watch=1' } } } })
  expect(watches.text).toContain('{"watch":"s","end":403,')
  // Further credentials besides the cookie, and impersonation headers, do not change that.
  const disguised = { authorization: 'Bearer x', 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }
  expect((await ask('/console/api/api/v1/secrets', { headers: disguised })).status).toBe(403)
  expect((await ask('/console/api/api/v1/pods', { headers: { 'impersonate-user': 'admin' } })).status).toBe(403)
})

test('a user without permission gets no link', async () => {
  const nobody = server.user('nobody', { rules: [] })
  await expect(nobody.client.request({ method: 'POST', path: '/console/ticket' })).rejects.toMatchObject({ reason: 'Forbidden' })
  await expect(server.client.request({ method: 'GET', path: '/console/ticket' })).rejects.toMatchObject({ reason: 'MethodNotAllowed' })
})

test('the port without TLS serves the console under its own host names, and nothing else', async () => {
  const link = await server.console()
  const { port } = new URL(link)
  for (const path of [
    '/',
    '/api/v1/pods',
    '/version',
    '/healthz',
    '/metrics',
    '/console/ticket',
    '/consoles/',
    '//console/',
    '/%63onsole/',
  ])
    expect([path, (await askPort(link, path)).status]).toEqual([path, 404])
  for (const host of [`evil.example:${port}`, '127.0.0.1', `127.0.0.1:${Number(port) - 1}`, `127.0.0.1.nip.io:${port}`])
    expect([host, (await askPort(link, '/console/', { headers: { host } })).status]).toEqual([host, 403])
  expect((await askPort(link, '/console')).headers['location']).toBe('/console/')
  expect((await askPort(link, '/console/', { headers: { host: `localhost:${port}` } })).status).toBe(200)
})

test('no path leads outside of the files of the console, which are only read', async () => {
  const link = await server.console()
  for (const path of [
    '/console/../package.json',
    '/console/%2e%2e/package.json',
    '/console/..%2fpackage.json',
    '/console//etc/passwd',
    '/console/index.html/',
    '/console/.',
    '/console/constructor',
  ])
    expect([path, (await askPort(link, path)).status]).toEqual([path, 404])
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])
    expect([method, (await askPort(link, '/console/', { method })).status]).toEqual([method, 405])
  const page = await askPort(link, '/console/')
  expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(page.text).not.toMatch(/<script>|<style|style="|onclick|https?:\/\//)
  const again = await askPort(link, '/console/', { headers: { 'if-none-match': String(page.headers['etag']) } })
  expect([again.status, again.text]).toEqual([304, ''])
})

test('the files of the first load have at most 120 KB, compressed by gzip', async () => {
  const link = await server.console()
  const texts = [(await askPort(link, '/console/')).text]
  const names = new Set(Array.from(texts[0]?.matchAll(/(?:href|src)="([\w-]+\.(?:css|js))"/g) ?? [], ([, name = '']) => name))
  for (const name of names) {
    const { status, text } = await askPort(link, `/console/${name}`)
    expect([name, status]).toEqual([name, 200])
    texts.push(text)
    for (const [, imported = ''] of text.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)) names.add(imported)
  }
  expect(names.size).toBeGreaterThanOrEqual(2)
  expect(texts.reduce((bytes, text) => bytes + gzipSync(text).length, 0)).toBeLessThan(120 * 1024)
})

test('a session path outside of the API serves nothing', async () => {
  const { ask } = await openPage(await server.console())
  for (const path of ['/console/api/', '/console/api/console/session', '/console/api/../api/v1/pods', '/console/api//api/v1/pods'])
    expect([path, (await ask(path)).status]).toEqual([path, path === '/console/api/' ? 200 : 404])
})

test('odd heads are refused, and the port still answers', async () => {
  const link = await server.console()
  const { port } = new URL(link)
  const host = `Host: 127.0.0.1:${port}\r\n`
  const heads = [
    'GET /console/ HTTP/1.1\r\n\r\n',
    `GET /console/ HTTP/1.1\r\n${host}${host}\r\n`,
    `GET http://evil.example/console/ HTTP/1.1\r\n${host}\r\n`,
    `CONNECT 127.0.0.1:1 HTTP/1.1\r\n${host}\r\n`,
    `GET /console/ HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}\r\n\r\n`,
    `POST /console/session HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    `GET /console/api/api/v1/pods?watch=1 HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    'nonsense\r\n\r\n',
  ]
  for (const head of heads)
    expect([head.slice(0, 40), await firstLine(Number(port), head)]).toEqual([head.slice(0, 40), expect.not.stringContaining(' 200 ')])
  expect((await askPort(link, '/console/')).status).toBe(200)
})

test('a body without a ticket opens no session', async () => {
  const link = await server.console()
  const headers = { origin: new URL(link).origin, 'content-type': 'application/json' }
  const post = async (body: unknown, more = {}) =>
    (await askPort(link, '/console/session', { method: 'POST', headers: { ...headers, ...more }, body })).status
  expect(await post({ ticket: 'A'.repeat(43) })).toBe(401)
  expect(await post({ ticket: ['A'] })).toBe(401)
  expect(await post([])).toBe(400)
  expect(await post({ ticket: 'x'.repeat(100_000) })).toBe(413)
  expect(await post({}, { 'content-type': 'text/plain' })).toBe(415)
  expect(await post({}, { origin: 'http://localhost:1' })).toBe(403)
})

test('the watches of a page share one stream, each in its form', async () => {
  const { ask } = await openPage(await server.console())
  const path =
    '/api/v1/namespaces?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1'
  const watches = {
    namespaces: { path },
    rows: { path, accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
    none: { path: '/apis/nowhere/v1/things?watch=1' },
  }
  const { text } = await ask('/console/watches', { method: 'POST', body: { watches } })
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toContainEqual(expect.objectContaining({ watch: 'none', end: 404 }))
  const kindOf = (name: string) => lines.find(({ watch, event }) => watch === name && event?.type === 'ADDED')?.event.object.kind
  expect([kindOf('namespaces'), kindOf('rows')]).toEqual(['Namespace', 'Table'])
  for (const watch of ['namespaces', 'rows']) expect(lines).toContainEqual({ watch, end: 200, status: null })
})

test('metadata and rows of Secrets are sent to a page without the annotation of kubectl apply, in answers and in watches', async () => {
  const name = 'kubectl.kubernetes.io/last-applied-configuration'
  const metadata = { name: 'applied', namespace: 'default', annotations: { [name]: '{"stringData":{"word":"hunter2"}}', note: 'kept' } }
  await server.client.objects.create({ apiVersion: 'v1', kind: 'Secret', metadata })
  const { ask } = await openPage(await server.console())
  const place = '/api/v1/namespaces/default/secrets'
  const moment = server.client.objects.get({ apiVersion: 'v1', kind: 'Secret', name: 'applied', namespace: 'default' })
  const at = `/at/${(await moment).metadata.resourceVersion}`
  const forms = ['PartialObjectMetadata', 'PartialObjectMetadataList', 'Table'].map(
    (form) => `application/json;as=${form};g=meta.k8s.io;v=v1`,
  )
  const [one = '', list = '', table = ''] = forms
  const shown = [
    ...[one, table].map((accept) => [`${place}/applied`, accept] as const),
    ...[list, table].flatMap((accept) => [place, `${at}${place}`].map((path) => [path, accept] as const)),
  ].map(async ([path, accept]) => (await ask(`/console/api${path}`, { headers: { accept } })).text)
  const query =
    'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dapplied'
  const watched = [one, table].map(
    async (accept) =>
      (await ask('/console/watches', { method: 'POST', body: { watches: { s: { path: `${place}?${query}`, accept } } } })).text,
  )
  for (const text of await Promise.all([...shown, ...watched])) {
    expect(text).toContain(`"${name}":"withheld"`)
    expect(text).toContain('"note":"kept"')
    expect(text).not.toContain('hunter2')
  }
  expect((await ask(`/console/api${place}/applied`)).text).toContain('hunter2')
})

test('weather that delays all watches does not delay watches of the console', async () => {
  const { ask } = await openPage(await server.console())
  expect((await ask('/console/api/orch/v1/watches/hold', { method: 'POST', body: {} })).status).toBe(201)
  const path =
    '/api/v1/namespaces?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1'
  const { text } = await ask('/console/watches', { method: 'POST', body: { watches: { namespaces: { path } } } })
  expect(text).toContain('"type":"ADDED"')
  expect(text).toContain('"type":"BOOKMARK"')
  expect(JSON.parse((await ask('/console/api/orch/v1/watches')).text)).toMatchObject({ items: [] })
  await server.reset()
})

test('over TLS the cookie is secure, and pages of allowed origins are refused', async () => {
  const { url, client } = server
  const { transport } = client
  const { url: link } = await client.request<{ url: string }>({ method: 'POST', path: '/console/ticket' })
  const send = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ ticket: link.split('ticket=')[1] })
    const sent = { 'content-type': 'application/json', ...headers }
    const response = await transport.send({ method: 'POST', path: '/console/session', headers: sent, body })
    for await (const _ of response.body);
    return response
  }
  expect((await send({ origin: 'https://page.example' })).status).toBe(403)
  const opened = await send({ origin: url })
  expect(opened.status).toBe(201)
  expect(opened.headers['set-cookie']).toMatch(/; SameSite=Strict; Secure$/)
})

test('a console has no port before its first link, and a server without the option has no console', async () => {
  const portsOf = () => process.getActiveResourcesInfo().filter((resource) => resource === 'TCPServerWrap').length
  const before = portsOf()
  const plain = await start()
  onTestFinished(() => plain.stop())
  const withoutConsole = portsOf()
  const other = await start({ console: true })
  onTestFinished(() => other.stop())
  expect(portsOf() - withoutConsole).toBe(withoutConsole - before)
  await other.console()
  expect(portsOf() - withoutConsole).toBe(withoutConsole - before + 1)
  await expect(plain.console()).rejects.toThrow('start it with the option console')
  await expect(plain.client.request({ method: 'POST', path: '/console/ticket' })).rejects.toMatchObject({ code: 404 })
})

/** The first line that the port answers to these bytes; '' if the port only closes the connection. */
function firstLine(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(bytes))
    let text = ''
    const done = () => {
      socket.destroy()
      resolve(text.split('\r\n')[0] ?? '')
    }
    socket.on('data', (part) => {
      text += part.toString()
      if (text.includes('\r\n')) done()
    })
    socket.on('error', done)
    socket.on('close', done)
  })
}
