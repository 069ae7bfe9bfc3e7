import { describe, expect, test } from 'vitest'
import { createStaticTokenAuthenticator, parseStaticTokens } from './static-tokens.ts'

const question = { audiences: [], nowMs: 0, timeoutMs: 0 }

describe('token files', () => {
  test('AUTHN-FILE-01, AUTHN-FILE-02: have token, name and uid, then groups, in one column or several', () => {
    const authenticator = createStaticTokenAuthenticator(parseStaticTokens('a,jane,1\r\nb,joe,2,"x, y"\n\nc,jim,,x,y\n'))
    const user = (token: string) => authenticator.authenticate(token, question)
    expect(user('a')).toMatchObject({ user: { name: 'jane', uid: '1', groups: [] } })
    expect(user('b')).toMatchObject({ user: { name: 'joe', groups: ['x', 'y'] } })
    expect(user('c')).toMatchObject({ user: { name: 'jim', uid: '', groups: ['x', 'y'] } })
    expect(user('d')).toEqual({ kind: 'none' })
  })

  test('the last of equal tokens applies, a line without a token is ignored, and warnings name both lines', () => {
    const tokens = parseStaticTokens('a,b,c\n,d,e\na,f,g\n')
    expect(createStaticTokenAuthenticator(tokens).authenticate('a', question)).toMatchObject({ user: { name: 'f', uid: 'g' } })
    expect(tokens.warnings).toEqual([
      'line 2: the token is empty, so the line is ignored',
      'line 3: an earlier line has the same token and is ignored',
    ])
  })

  test.each([
    ['a,b', 'line 1: must have at least three columns'],
    ['a,b,c\n"x\ny",b', 'line 2: must have at least three columns'],
    ['a,,c', 'line 1: the user name is empty'],
    ['a,b"c,d', 'line 1: must be comma separated values'],
  ])('AUTHN-FILE-05: %j is refused with its line', (text, message) => {
    expect(() => parseStaticTokens(text)).toThrow(message)
  })
})
