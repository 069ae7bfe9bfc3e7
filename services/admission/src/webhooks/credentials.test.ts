import { credentialFor, serviceCredential } from '@orch/platform/webhooks'
import { expect, test } from 'vitest'
import { parseWebhookCredentials } from './credentials-file.ts'

const known = (...names: string[]) => ({ users: new Map(names.map((name) => [name, { token: name }])), current: undefined })

test.each<readonly [string, readonly string[], string, string | undefined]>([
  ['ADM-CRED-08: the very name', ['a.b.svc', '*'], 'a.b.svc', 'a.b.svc'],
  ['ADM-CRED-09: the name with its port', ['a.b.svc', 'a.b.svc:8443'], 'a.b.svc:8443', 'a.b.svc:8443'],
  ['ADM-CRED-09: a name without the port says nothing of another port', ['a.b.svc'], 'a.b.svc:8443', undefined],
  ['ADM-CRED-11: a host without a port matches port 443', ['a.b.c'], 'a.b.c:443', 'a.b.c'],
  ['ADM-CRED-12: a wildcard for one part', ['*.b.svc', '*'], 'a.b.svc', '*.b.svc'],
  ['ADM-CRED-12: a wildcard for several parts', ['*.svc', '*'], 'a.b.svc', '*.svc'],
  ['ADM-CRED-12: the longer one first', ['*.svc', '*.b.svc'], 'a.b.svc', '*.b.svc'],
  ['ADM-CRED-12: a wildcard without a port matches port 443', ['*.c'], 'a.b.c:443', '*.c'],
  ['ADM-CRED-13: the default', ['x.y', '*'], 'a.b.svc', '*'],
  ['nobody', ['x.y'], 'a.b.svc', undefined],
])('%s', (_what, names, target, expected) => {
  expect(credentialFor(known(...names), target).token).toBe(expected)
})

test('ADM-CRED-09: the port of a Service is part of its name unless it is 443', () => {
  const credentials = known('a.b.svc', 'a.b.svc:8443')
  expect(serviceCredential(credentials, { namespace: 'b', name: 'a', port: 443 }).token).toBe('a.b.svc')
  expect(serviceCredential(credentials, { namespace: 'b', name: 'a', port: 8443 }).token).toBe('a.b.svc:8443')
})

test('the user of the current context is used for servers without an entry', () => {
  const credentials = parseWebhookCredentials(
    {
      users: [
        { name: 'me', user: { tokenFile: 'token' } },
        { name: 'a', user: { username: 'u' } },
      ],
      contexts: [{ name: 'c', context: { user: 'me' } }],
      'current-context': 'c',
    },
    (path) => `${path} of a file\n`,
  )
  expect(credentialFor(credentials, 'z').token).toBe('token of a file')
  expect(credentialFor(credentials, 'a').username).toBe('u')
})
