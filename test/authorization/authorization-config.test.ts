import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFakeClock } from '@orch/testkit'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, test } from 'vitest'
import { type Api, anApi } from '../api/api.ts'
import { aWebhookFile, webhookLink } from '../identity/webhook.ts'
import { aPerson } from './people.ts'

type Status = { readonly allowed: boolean; readonly denied?: boolean; readonly reason?: string }

/** A webhook that decides by the user's name. For a user without an entry it returns an invalid answer. */
async function aWebhook(decide: (user: string) => Status | undefined) {
  const asked: string[] = []
  const file = await aWebhookFile((review) => {
    const { apiVersion, spec } = review as { apiVersion: string; spec: { user: string } }
    asked.push(spec.user)
    const status = decide(spec.user)
    return { status: status === undefined ? 400 : 200, body: { apiVersion, kind: 'SubjectAccessReview', status } }
  })
  return { asked, link: (name: string, fields: object = {}) => webhookLink(file, name, fields) }
}

const configuration = (...authorizers: readonly object[]) =>
  JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AuthorizationConfiguration', authorizers })
const rbac = { type: 'RBAC', name: 'rbac' }
const pods = '/api/v1/namespaces/default/pods'

/** The configuration file of the flag. */
function aFile(text: string) {
  const path = join(aFolder(), 'authorization.json')
  writeFileSync(path, text)
  return { path, flag: `--authorization-config=${path}` }
}

async function aServer(...authorizers: readonly object[]) {
  const clock = createFakeClock(Date.now())
  const { path, flag } = aFile(configuration(...authorizers))
  const api = await anApi({ flags: [flag], controllers: [], clock })
  const total = async (outcome: string) => {
    const { text } = await api.get('/metrics')
    const name = 'apiserver_authorization_config_controller_automatic_reloads_total'
    return Number(new RegExp(`^${name}{\\S+,status="${outcome}"} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  }
  return {
    api,
    /** Writes a new configuration and waits until the metrics count the outcome. */
    async write(text: string, outcome: 'success' | 'failure'): Promise<void> {
      const before = await total(outcome)
      writeFileSync(path, text)
      await clock.advance(10_000)
      await expect.poll(() => total(outcome)).toBe(before + 1)
    },
  }
}

const codeOf = async (api: Api, user: string) => (await aPerson(api, user).get(pods)).status

test('AZC-10: authorizers are asked in the order of the file, after the check for administrators', async () => {
  const first = await aWebhook((user) => (user === 'barred' ? { allowed: false, denied: true } : { allowed: false }))
  const second = await aWebhook((user) => ({ allowed: user === 'jane' || user === 'barred' }))
  const { api } = await aServer(first.link('first'), rbac, second.link('second'))
  expect([await codeOf(api, 'jane'), await codeOf(api, 'barred'), await codeOf(api, 'john')]).toEqual([200, 403, 403])
  expect([first.asked, second.asked]).toEqual([
    ['jane', 'barred', 'john'],
    ['jane', 'john'],
  ])
  expect((await api.get(pods)).status).toBe(200)
  expect(first.asked).toHaveLength(3)
})

test('AZC-07, AZC-09: a webhook that fails denies or has no opinion, and a webhook whose condition is false is not called', async () => {
  const failing = await aWebhook(() => undefined)
  const allowing = await aWebhook(() => ({ allowed: true }))
  const onlyFor = (user: string) => ({
    matchConditionSubjectAccessReviewVersion: 'v1',
    matchConditions: [{ expression: `request.user == '${user}'` }],
  })
  const { api } = await aServer(
    failing.link('strict', { failurePolicy: 'Deny', ...onlyFor('jane') }),
    failing.link('lax', onlyFor('john')),
    allowing.link('all'),
  )
  expect([await codeOf(api, 'jane'), await codeOf(api, 'john'), await codeOf(api, 'jill')]).toEqual([500, 200, 200])
  expect(failing.asked).toEqual(['jane', 'john'])
})

describe('AZC-11: a changed authorization file', () => {
  test('is read again: webhooks are added and removed, and their earlier approvals are dropped', async () => {
    const before = await aWebhook(() => ({ allowed: true }))
    const after = await aWebhook((user) => ({ allowed: user === 'john' }))
    const { api, write } = await aServer(rbac, before.link('a'))
    expect([await codeOf(api, 'jane'), await codeOf(api, 'john')]).toEqual([200, 200])
    await write(configuration(after.link('b'), rbac), 'success')
    expect([await codeOf(api, 'jane'), await codeOf(api, 'john')]).toEqual([403, 200])
    expect(before.asked).toHaveLength(2)
  })

  test('that has other types, is invalid or names no client configuration leaves the current chain in use, and is counted', async () => {
    const webhook = await aWebhook(() => ({ allowed: true }))
    const { api, write } = await aServer(rbac, webhook.link('a'))
    await write(configuration(webhook.link('a')), 'failure')
    await write(configuration(rbac, { type: 'AlwaysDeny', name: 'no' }), 'failure')
    await write('[', 'failure')
    const notConfigured = join(aFolder(), 'empty.conf')
    writeFileSync(notConfigured, '{}')
    const connectionInfo = { type: 'KubeConfigFile', kubeConfigFile: notConfigured }
    await write(configuration(rbac, webhook.link('a', { connectionInfo })), 'failure')
    expect(await codeOf(api, 'jane')).toBe(200)
  })

  test('that is invalid at the start stops the server, with the field', async () => {
    await expect(aServer({ type: 'RBAC' })).rejects.toThrow(/--authorization-config=.*: authorizers\[0\]\.name: Required value/)
  })
})

test.each([['--authorization-mode=AlwaysAllow'], ['--authorization-mode=RBAC,Node'], ['--authorization-webhook-config-file=/tmp/a']])(
  'AZC-12: the file excludes %s',
  async (flag) => {
    const { flag: file } = aFile(configuration(rbac))
    await expect(anApi({ flags: [file, flag] })).rejects.toThrow(/--authorization-config: not together with --authorization-/)
  },
)
