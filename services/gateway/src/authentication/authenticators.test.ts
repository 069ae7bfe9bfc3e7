import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import type { Peer } from '../exchange/exchange.ts'
import type { TokenAuthenticator } from './authenticator.ts'
import { createAuthenticators } from './authenticators.ts'

test('a connection has the user of its current request, after any earlier requests', async () => {
  const sources = new Set<unknown>()
  const names: TokenAuthenticator = {
    name: 'names',
    authenticate(token, { source }) {
      sources.add(source)
      return { kind: 'user', user: { name: token, uid: '', groups: [], extra: {} } }
    },
  }
  const authenticators = createAuthenticators({ requests: [], tokens: [names], audiences: [] }, namesOf('orch'))
  const [one, other]: Peer[] = [{ kind: 'unknown' }, { kind: 'unknown' }]
  const ask = async (peer: Peer | undefined, authorization?: string) => {
    const headers = { header: () => authorization, headerValues: () => [], headerNames: () => [] }
    const answer = await authenticators.authenticate({ peer: peer as Peer, nowMs: 0, timeoutMs: 1_000, ...headers })
    return answer.kind === 'user' ? answer.user.name : answer.kind
  }
  const said = ['Bearer a', 'Bearer a', 'Bearer b', undefined, 'Basic a', 'bearer a', 'Bearer ']
  const answers = await Promise.all(said.map((text) => ask(one, text)))
  expect(answers).toEqual(['a', 'a', 'b', 'none', 'none', 'a', 'none'])
  expect(await Promise.all([ask(other, 'Bearer b'), ask(one, 'Bearer a'), ask(other, 'Bearer b')])).toEqual(['b', 'a', 'b'])
  // Twice the same in a row is one.
  expect(sources.size).toBe(5)
})
