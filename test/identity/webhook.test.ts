import { readFileSync, writeFileSync } from 'node:fs'
import { type Log, silentLog } from '@orch/platform'
import { anAuthority } from '@orch/platform/any-certificate'
import { createFakeClock } from '@orch/testkit'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { adminPair, call, whoAmI } from './call.ts'
import { aFolder } from './folder.ts'
import { aTokenWebhook, type Reply, withStatus } from './token-webhook.ts'

const configFlag = '--authentication-token-webhook-config-file'

async function aServer(reply: Reply, flags: readonly string[] = [], clock?: ReturnType<typeof createFakeClock>) {
  const { asked, configFile } = await aTokenWebhook(reply)
  const server = await start({
    flags: ['--authorization-mode=AlwaysAllow', `${configFlag}=${configFile}`, ...flags],
    ...(clock === undefined ? {} : { clock }),
  })
  onTestFinished(() => server.stop())
  return { server, asked }
}

const headers = { authorization: 'Bearer opaque-1' }
const yes = withStatus({ authenticated: true, user: { username: 'jane' } })

const named = { username: 'jane', uid: '42', groups: ['dev'], extra: { scopes: ['a', 'b'] } }
const namesAll = withStatus({ authenticated: true, user: named, error: 'of no concern' })

test('AUTHN-WH-18, AUTHN-WH-19, AUTHN-WH-20, AUTHN-WH-21: the user in the answer of the webhook is the user of the request', async () => {
  const { server } = await aServer(namesAll)
  expect(await whoAmI(server, { headers })).toEqual({ ...named, groups: ['dev', 'system:authenticated'] })
})

test('AUTHN-WH-17, AUTHN-WH-23, AUTHN-WH-25: an approval is accepted without audiences, and beside an error', async () => {
  const { server } = await aServer(withStatus({ authenticated: true, user: { username: 'jane' }, error: 'of no concern' }))
  expect(await whoAmI(server, { headers })).toMatchObject({ username: 'jane' })
})

test('AUTHN-WH-01, AUTHN-WH-03, AUTHN-WH-12, FLAG-16: the webhook of the file is called, with the certificate of the file', async () => {
  const { server, asked } = await aServer(namesAll)
  expect(await whoAmI(server, { headers })).toMatchObject({ username: 'jane' })
  expect(asked).toMatchObject([{ caller: 'orch-server', review: { spec: { audiences: ['https://orch.default.svc.cluster.local'] } } }])
})

test('AUTHN-WH-07, AUTHN-WH-08, AUTHN-WH-11, FLAG-18: the webhook gets a v1beta1 TokenReview with the unchanged token', async () => {
  const { server, asked } = await aServer(namesAll)
  expect(await whoAmI(server, { headers })).toMatchObject({ username: 'jane' })
  const review = { apiVersion: 'authentication.orch.io/v1beta1', kind: 'TokenReview', spec: { token: 'opaque-1' } }
  expect(asked).toMatchObject([{ review }])
})

test.each(['v1', 'authentication.orch.io/v1'])('AUTHN-WH-06, AUTHN-WH-09: version %s', async (version) => {
  const { server, asked } = await aServer(yes, [`--authentication-token-webhook-version=${version}`])
  expect(await whoAmI(server, { headers })).toMatchObject({ username: 'jane' })
  expect(asked[0]?.review.apiVersion).toBe('authentication.orch.io/v1')
})

const refusals: readonly (readonly [string, Reply])[] = [
  ['AUTHN-WH-26: says no', withStatus({ authenticated: false })],
  ['AUTHN-WH-26: says why not', withStatus({ authenticated: false, error: 'who is that' })],
  [
    'AUTHN-WH-15: answers in another version',
    withStatus({ authenticated: true, user: { username: 'jane' } }, { apiVersion: 'authentication.orch.io/v2' }),
  ],
  [
    'AUTHN-WH-10: answers with another kind',
    withStatus({ authenticated: true, user: { username: 'jane' } }, { kind: 'SubjectAccessReview' }),
  ],
  ['AUTHN-WH-18: names nobody', withStatus({ authenticated: true, user: {} })],
  ['AUTHN-WH-13: is for other audiences', withStatus({ authenticated: true, user: { username: 'jane' }, audiences: ['https://other'] })],
  ['AUTHN-WH-16: answers the question alone', withStatus(undefined, { spec: { authenticated: true, user: { username: 'jane' } } })],
  ['AUTHN-WH-17: says yes with a text', withStatus({ authenticated: 'true', user: { username: 'jane' } })],
  ['AUTHN-WH-17: answers nonsense', (_asked, response) => void response.end('<html>')],
  ['AUTHN-WH-17: redirects', (_asked, response) => void response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end()],
  ['AUTHN-WH-17: answers without end', (_asked, response) => void response.end(Buffer.alloc(2 * 1024 * 1024, ' '))],
  ['AUTHN-WH-17: does not want to', (_asked, response) => void response.writeHead(403).end()],
]

test.each(refusals)('%s: the request is a 401, with the message of every refusal', async (_what, reply) => {
  const { server, asked } = await aServer(reply, ['--anonymous-auth', '--request-timeout=2s'])
  expect(await call(server, { headers })).toMatchObject({ code: 401, body: { message: 'Unauthorized' } })
  expect(asked.length).toBeGreaterThan(0)
})

test.each([
  ['some of them', ['vault', 'us'], ['vault', 'elsewhere'], ['vault']],
  ['others', ['vault'], ['elsewhere'], undefined],
  ['none, which is this server alone', ['vault', 'us'], undefined, ['us']],
  ['none, where this server was not meant', ['vault'], undefined, undefined],
])('AUTHN-WH-12, AUTHN-WH-13, AUTHN-WH-23: a webhook that names %s', async (_what, wanted, granted, expected) => {
  const { server, asked } = await aServer(withStatus({ authenticated: true, user: { username: 'jane' }, audiences: granted }), [
    '--api-audiences=us',
  ])
  const path = '/apis/authentication.orch.io/v1/tokenreviews'
  const body = { spec: { token: 'opaque-1', audiences: wanted } }
  const answer = await call(server, { pair: await adminPair(server), method: 'POST', path, body })
  expect(asked[0]?.review.spec).toEqual({ token: 'opaque-1', audiences: wanted })
  expect(answer.body.status).toMatchObject(
    expected === undefined ? { user: {}, error: 'invalid bearer token' } : { authenticated: true, audiences: expected },
  )
})

test('AUTHN-WH-24, AUTHN-WH-25: the reason of a refusal is in the log and in token reviews', async () => {
  const reasons: unknown[] = []
  const log: Log = { ...silentLog, debug: ({ reason }) => void reasons.push(reason) }
  const { configFile } = await aTokenWebhook((asked, response) => {
    const authenticated = asked.review.spec.token === 'good'
    withStatus({ authenticated, user: { username: 'jane' }, error: 'it was withdrawn' })(asked, response)
  })
  const server = await start({ flags: [`${configFlag}=${configFile}`], log })
  onTestFinished(() => server.stop())
  const path = '/apis/authentication.orch.io/v1/tokenreviews'
  const pair = await adminPair(server)
  const statusOf = async (token: string) => (await call(server, { pair, method: 'POST', path, body: { spec: { token } } })).body.status
  expect(await statusOf('bad')).toEqual({ user: {}, error: '[invalid bearer token, it was withdrawn]' })
  expect(await statusOf('good')).toMatchObject({ authenticated: true })
  expect(await statusOf('good')).not.toHaveProperty('error')
  const refusal = await call(server, { headers: { authorization: 'Bearer bad' } })
  expect(refusal).toMatchObject({ code: 401, body: { message: 'Unauthorized' } })
  expect(reasons).toContainEqual(expect.stringContaining('it was withdrawn'))
})

test('AUTHN-WH-02: a webhook whose certificate the file does not verify receives no token', async () => {
  const { asked, configFile } = await aTokenWebhook(yes)
  const configuration = JSON.parse(readFileSync(configFile, 'utf8'))
  const { certificate } = await anAuthority('webhooks')
  configuration.clusters[0].cluster['certificate-authority-data'] = Buffer.from(certificate).toString('base64')
  writeFileSync(configFile, JSON.stringify(configuration))
  const server = await start({ flags: ['--authorization-mode=AlwaysAllow', `${configFlag}=${configFile}`, '--request-timeout=1s'] })
  onTestFinished(() => server.stop())
  expect(await whoAmI(server, { headers })).toBeUndefined()
  expect(asked).toEqual([])
})

test('AUTHN-WH-17: a webhook that does not answer is abandoned with the request', async () => {
  const { server, asked } = await aServer(() => {}, ['--request-timeout=5s'])
  expect((await call(server, { headers })).code).toBeOneOf([401, 504])
  expect(asked).toHaveLength(1)
})

test('AUTHN-WH-17: a call that fails with 503 is repeated, and the failure is not cached', async () => {
  let failures = 1
  const { server, asked } = await aServer((one, response) => {
    failures -= 1
    if (failures >= 0) response.writeHead(503).end()
    else yes(one, response)
  })
  expect(await whoAmI(server, { headers })).toMatchObject({ username: 'jane' })
  expect(asked).toHaveLength(2)
})

test.each([
  ['yes', yes, 200],
  ['no', withStatus({ authenticated: false }), 401],
])('AUTHN-WH-04, AUTHN-WH-05, AUTHN-WH-27, LIM-03: a %s is cached for two minutes', async (_what, reply, code) => {
  const clock = createFakeClock(Date.now())
  const { server, asked } = await aServer(reply, [], clock)
  for (const [waitMs, questions] of [
    [0, 1],
    [60_000, 1],
    [59_000, 1],
    [2_000, 2],
  ] as const) {
    clock.advance(waitMs)
    expect((await call(server, { headers })).code).toBe(code)
    expect(asked).toHaveLength(questions)
  }
})

test('AUTHN-WH-05: another token causes another call, and parallel callers share a call', async () => {
  const { server, asked } = await aServer(yes)
  await Promise.all(Array.from({ length: 5 }, () => call(server, { headers })))
  expect(asked).toHaveLength(1)
  await call(server, { headers: { authorization: 'Bearer opaque-2' } })
  expect(asked).toHaveLength(2)
})

test('FLAG-16, FLAG-18: invalid settings are refused at the start', async () => {
  await expect(start({ flags: [`${configFlag}=/nowhere`] })).rejects.toThrow(/\/nowhere/)
  await expect(start({ flags: ['--authentication-token-webhook-version=v2'] })).rejects.toThrow(/must be one of v1, v1beta1/)
  for (const server of ['http://example.com/', 'https://169.254.169.254/']) {
    const text = {
      'current-context': 'w',
      clusters: [{ name: 'w', cluster: { server } }],
      contexts: [{ name: 'w', context: { cluster: 'w' } }],
    }
    const file = aFolder().write('w.conf', JSON.stringify(text))
    await expect(start({ flags: [`${configFlag}=${file}`] })).rejects.toThrow(/https:\/\/|link-local/)
  }
})
