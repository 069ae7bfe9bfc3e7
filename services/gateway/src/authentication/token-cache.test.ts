import { createMetrics } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import { type Authentication, none, refused, type TokenAuthenticator } from './authenticator.ts'
import { limits } from './limits.ts'
import { createTokenCacheMetrics } from './metrics.ts'
import { TokenCache } from './token-cache.ts'

const jane = (more: object = {}): Authentication => ({ kind: 'user', user: { name: 'jane', uid: '', groups: [], extra: {} }, ...more })
const question = { audiences: ['us'], nowMs: 0, timeoutMs: 1000 }

/** A cache over an authenticator with these answers, which counts its calls. */
function aCache(answer: (token: string) => Authentication | Promise<Authentication>) {
  const asked: string[] = []
  const authenticator: TokenAuthenticator = {
    name: 'way',
    authenticate(token) {
      asked.push(token)
      return answer(token)
    },
  }
  const metrics = createMetrics({ process: false })
  const clock = createFakeClock()
  return { cache: new TokenCache([authenticator], { clock, metrics: createTokenCacheMetrics(metrics) }), asked, metrics, clock }
}

describe('results of tokens', () => {
  test('are cached for seconds, both acceptances and refusals', () => {
    for (const answer of [jane(), refused('bad'), none]) {
      const { cache, asked, clock } = aCache(() => answer)
      cache.authenticate('t', question)
      clock.advance(limits.cachedAcceptedMs - 1)
      expect(cache.authenticate('t', question)).toMatchObject({ kind: answer.kind })
      expect(asked).toEqual(['t'])
      clock.advance(1)
      cache.authenticate('t', question)
      expect(asked).toEqual(['t', 't'])
    }
  })

  test('are cached equally long if the wall clock is set back or forward', () => {
    for (const nowMs of [-3_600_000, 3_600_000]) {
      const { cache, asked, clock } = aCache(() => jane())
      cache.authenticate('t', question)
      cache.authenticate('t', { ...question, nowMs })
      expect(asked).toEqual(['t'])
      clock.advance(limits.cachedAcceptedMs)
      cache.authenticate('t', { ...question, nowMs })
      expect(asked).toEqual(['t', 't'])
    }
  })

  test('are cached no longer than an authenticator allows', () => {
    const { cache, asked, clock } = aCache(() => jane({ keptMsMax: 5 }))
    cache.authenticate('t', question)
    clock.advance(4)
    cache.authenticate('t', question)
    expect(asked).toHaveLength(1)
    clock.advance(1)
    cache.authenticate('t', question)
    expect(asked).toHaveLength(2)
  })

  test('are not cached after an authenticator has failed, as it may recover', async () => {
    let isDown = true
    const { cache, asked } = aCache(() => (isDown ? Promise.reject(new Error('storage is away')) : jane()))
    expect(await cache.authenticate('t', { ...question, nowMs: 1 })).toMatchObject({ kind: 'refused' })
    isDown = false
    expect(cache.authenticate('t', { ...question, nowMs: 1 })).toMatchObject({ kind: 'user' })
    expect(asked).toEqual(['t', 't'])
  })

  test('are cached no longer than the token is valid, and separately for each audience', () => {
    const { cache, asked } = aCache(() => jane({ validUntilMs: 5 }))
    cache.authenticate('t', question)
    cache.authenticate('t', { ...question, audiences: ['them'] })
    expect(asked).toHaveLength(2)
    cache.authenticate('t', { ...question, nowMs: 5 })
    expect(asked).toHaveLength(3)
  })

  test('are found by the connection that sent the token, and dropped with the objects that they depend on', () => {
    const { cache, asked } = aCache((token) => jane({ dependsOn: [`secrets/${token}`] }))
    const ofConnection = { ...question, source: {} }
    cache.authenticate('a', ofConnection)
    cache.authenticate('a', ofConnection)
    cache.authenticate('a', question)
    expect(asked).toEqual(['a'])
    cache.forget('secrets/a')
    cache.authenticate('a', ofConnection)
    expect(asked).toEqual(['a', 'a'])
  })

  test('are dropped with the objects that they depend on', () => {
    const { cache, asked } = aCache((token) => jane({ dependsOn: [`secrets/${token}`] }))
    cache.authenticate('a', question)
    cache.authenticate('b', question)
    cache.forget('secrets/a')
    cache.authenticate('a', question)
    cache.authenticate('b', question)
    expect(asked).toEqual(['a', 'b', 'a'])
    cache.forgetAll()
    cache.authenticate('b', question)
    expect(asked).toEqual(['a', 'b', 'a', 'b'])
  })

  test('are requested once by parallel callers, and not cached when something has changed meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<Authentication>()
    const { cache, asked } = aCache(() => promise)
    const answers = [cache.authenticate('t', question), cache.authenticate('t', question)]
    expect(asked).toEqual(['t'])
    cache.forget('secrets/t')
    resolve(jane({ dependsOn: ['secrets/t'] }))
    expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(['user', 'user'])
    await cache.authenticate('t', question)
    expect(asked).toEqual(['t', 't'])
  })

  test('METRIC-13: are counted as hits, misses and shared requests', async () => {
    const { promise, resolve } = Promise.withResolvers<Authentication>()
    const { cache, metrics } = aCache((token) => (token === 'bad' ? refused('bad') : promise))
    cache.authenticate('bad', question)
    const answers = [cache.authenticate('t', question), cache.authenticate('t', question)]
    expect(await metrics.text()).toMatch(/active_fetch_count\{status="in_flight"\} 1\n.*active_fetch_count\{status="blocked"\} 1\n/)
    resolve(jane())
    await Promise.all(answers)
    cache.authenticate('t', question)
    const text = await metrics.text()
    for (const line of [
      'request_total{status="hit"} 1',
      'request_total{status="miss"} 3',
      'fetch_total{status="ok"} 1',
      'fetch_total{status="error"} 1',
      'active_fetch_count{status="blocked"} 0',
    ]) {
      expect(text).toContain(`authentication_token_cache_${line}\n`)
    }
  })

  test('are bounded in number: the oldest is dropped', () => {
    const { cache, asked } = aCache(() => jane())
    for (let index = 0; index <= limits.cachedTokensMax; index += 1) cache.authenticate(String(index), question)
    asked.length = 0
    cache.authenticate('0', question)
    cache.authenticate(String(limits.cachedTokensMax), question)
    expect(asked).toEqual(['0'])
  })
})
