import { createFakeClock } from '@orch/testkit'
import { expect, test, vi } from 'vitest'
import { InProcessExchange } from '../exchange/in-process.ts'
import { Console } from './console.ts'
import { limits } from './limits.ts'
import { Sessions } from './sessions.ts'
import { Tickets } from './tickets.ts'

const aUser = (name: string) => ({ name, uid: '', groups: [], extra: {} })

const host = '127.0.0.1:8080'
const ownHeaders = { host, origin: `http://${host}`, 'content-type': 'application/json' }

/** A console without files and API. */
function aConsole() {
  const clock = createFakeClock(0)
  const served: string[] = []
  const opened: InProcessExchange[] = []
  const made = new Console({
    folder: new URL('file:///nowhere/'),
    clock,
    path: '/console',
    facts: {},
    serve(exchange) {
      served.push(`${exchange.method} ${exchange.target} ${exchange.peer.kind === 'console' ? exchange.peer.user.name : ''}`)
      exchange.send(200, {}, '')
    },
    open(request, peer) {
      const exchange = new InProcessExchange(request, peer)
      opened.push(exchange)
      return exchange
    },
    isWatch: (target) => target.includes('watch=1'),
  })
  const ask = async (method: string, path: string, { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {}) => {
    const exchange = new InProcessExchange(
      { method, path, headers: { ...ownHeaders, ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
      { kind: 'unknown' },
    )
    await made.answer(exchange, true)
    const response = await exchange.response
    let text = ''
    for await (const bytes of response.body) text += Buffer.from(bytes).toString()
    return { status: response.status, cookie: response.headers['set-cookie']?.split(';')[0] ?? '', text }
  }
  const login = async (name = 'jane') => {
    const ticket = made.link(aUser(name), '').split('ticket=')[1] ?? ''
    const { status, cookie, text } = await ask('POST', '/console/session', { body: { ticket } })
    const headers = { cookie, 'x-csrf-token': status === 201 ? JSON.parse(text).token : '' }
    return { ticket, status, headers }
  }
  return { console: made, clock, ask, login, served, opened }
}

test('a ticket opens one session, within a minute', async () => {
  const { console, clock, ask, login } = aConsole()
  const { ticket, status } = await login()
  expect(status).toBe(201)
  expect((await ask('POST', '/console/session', { body: { ticket } })).status).toBe(401)
  const late = console.link(aUser('jane'), '').split('ticket=')[1]
  await clock.advance(limits.ticketMs - 1)
  const justInTime = console.link(aUser('jane'), '').split('ticket=')[1]
  await clock.advance(1)
  expect((await ask('POST', '/console/session', { body: { ticket: late } })).status).toBe(401)
  expect((await ask('POST', '/console/session', { body: { ticket: justInTime } })).status).toBe(201)
})

test('a session that has expired, or that its user has ended, is refused', async () => {
  const { clock, ask, login, served } = aConsole()
  const [one, other] = [await login(), await login()]
  expect((await ask('GET', '/console/api/version', one)).status).toBe(200)
  expect((await ask('DELETE', '/console/session', one)).status).toBe(200)
  expect((await ask('GET', '/console/api/version', one)).status).toBe(401)
  await clock.advance(limits.sessionMs - 1)
  expect((await ask('GET', '/console/api/version', other)).status).toBe(200)
  await clock.advance(1)
  expect((await ask('GET', '/console/api/version', other)).status).toBe(401)
  expect(served).toEqual(['GET /console/api/version jane', 'GET /console/api/version jane'])
})

test('open watches end with their session', async () => {
  const { console, login, ask } = aConsole()
  const { headers } = await login()
  const watches = ask('POST', '/console/watches', { headers, body: { watches: { pods: { path: '/api/v1/pods?watch=1' } } } })
  await new Promise(setImmediate)
  console.close()
  await expect(watches).rejects.toThrow('broken off')
  expect(console.sessions.size).toBe(0)
})

test('a session needs its cookie, its token and its own origin', async () => {
  const { ask, login } = aConsole()
  const { headers } = await login()
  const { headers: others } = await login('other')
  const statusOf = async (changed: Record<string, string | undefined>) => {
    const all = Object.entries({ ...headers, ...changed }).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return (await ask('POST', '/console/api/api/v1/namespaces', { headers: Object.fromEntries(all) })).status
  }
  expect(await statusOf({})).toBe(200)
  expect(await statusOf({ 'x-csrf-token': undefined })).toBe(401)
  expect(await statusOf({ 'x-csrf-token': 'guess' })).toBe(401)
  expect(await statusOf({ 'x-csrf-token': others['x-csrf-token'] })).toBe(401)
  expect(await statusOf({ cookie: undefined })).toBe(401)
  for (const cookie of [
    '',
    '=',
    ';;;',
    'console-session-8080',
    'console-session-8080=%',
    `x=${headers.cookie}`,
    headers.cookie.toUpperCase(),
  ])
    expect(await statusOf({ cookie }), cookie).toBe(401)
  // A page at another port of the host may have set one of the same name.
  expect(await statusOf({ cookie: `console-session-8080=planted; ${headers.cookie}` })).toBe(200)
  expect(await statusOf({ origin: 'http://127.0.0.1:9999' })).toBe(403)
  expect(await statusOf({ origin: 'null' })).toBe(403)
  expect(await statusOf({ origin: `https://${host}` })).toBe(403)
  expect(await statusOf({ 'sec-fetch-site': 'same-site' })).toBe(403)
  expect(await statusOf({ 'sec-fetch-site': 'same-origin' })).toBe(200)
})

test('the number of tickets and sessions is bounded, per user and in total', async () => {
  const clock = createFakeClock(0)
  const [tickets, sessions] = [new Tickets(clock), new Sessions(clock)]
  const ofJane = Array.from({ length: 100 }, () => tickets.issue(aUser('jane')) ?? '')
  expect(tickets.size).toBe(limits.ticketsPerUserMax)
  expect(tickets.redeem(ofJane[0] ?? '')).toBeUndefined()
  expect(tickets.redeem(ofJane[99] ?? '')?.name).toBe('jane')
  const first = sessions.begin(aUser('jane'))
  for (let count = 0; count < 100; count++) sessions.begin(aUser('jane'))
  expect(sessions.size).toBe(limits.sessionsPerUserMax)
  expect(sessions.find([first?.cookie ?? ''], first?.token ?? '')).toBeUndefined()
  const results = Array.from({ length: 1_000 }, (_, index) => [tickets.issue(aUser(`u${index}`)), sessions.begin(aUser(`u${index}`))])
  expect(results.at(-1)).toEqual([undefined, undefined])
  expect([tickets.size, sessions.size]).toEqual([limits.ticketsMax, limits.sessionsMax])
  await clock.advance(limits.sessionMs)
  expect(sessions.size).toBe(0)
  expect(tickets.issue(aUser('jane'))).toBeDefined()
  expect(tickets.size).toBe(1)
})

test('an event without an end ends its watch, and others are passed on as they arrive', async () => {
  const { ask, login, opened } = aConsole()
  const { headers } = await login()
  const path = '/api/v1/pods?watch=1'
  const answer = ask('POST', '/console/watches', { headers, body: { watches: { good: { path }, endless: { path } } } })
  await vi.waitFor(() => expect(opened).toHaveLength(2))
  const [good, endless] = opened
  for (const watch of opened) watch.begin(200, {})
  for (const piece of ['{"n":1}\n{"n', '":2}\n', '{"n":3']) good?.write(piece)
  const piece = Buffer.alloc(1024 * 1024, 'a')
  for (let bytes = 0; bytes <= limits.eventCharactersMax; bytes += piece.length) endless?.write(piece)
  await vi.waitFor(() => expect(endless?.isClosed).toBe(true))
  good?.end()
  const lines = (await answer).text.trim().split('\n').sort()
  expect(lines).toEqual([
    '{"watch":"endless","end":200,"status":null}',
    '{"watch":"good","end":200,"status":null}',
    '{"watch":"good","event":{"n":1}}',
    '{"watch":"good","event":{"n":2}}',
  ])
})

test('the number of streams and watches of a session is bounded', async () => {
  const { console, ask, login } = aConsole()
  const { headers } = await login()
  const open = (watches: unknown) => ask('POST', '/console/watches', { headers, body: { watches } })
  const pods = { path: '/api/v1/pods?watch=1' }
  const many = Object.fromEntries(Array.from({ length: limits.watchesPerStreamMax + 1 }, (_, index) => [`${index}`, pods]))
  expect((await open(many)).status).toBe(400)
  expect((await open({ pods: { path: '/api/v1/pods' } })).status).toBe(400)
  expect((await open({ pods: pods.path })).status).toBe(400)
  expect((await open({ pods: { ...pods, accept: 1 } })).status).toBe(400)
  expect((await open([pods])).status).toBe(400)
  const streams = Array.from({ length: limits.streamsPerSessionMax }, () => open({ pods }).catch(() => 'ended'))
  expect((await open({})).status).toBe(429)
  console.close()
  expect(await Promise.all(streams)).toEqual(streams.map(() => 'ended'))
})
