import { readFileSync, writeFileSync } from 'node:fs'
import { createFakeClock } from '@orch/testkit'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { call, whoAmI } from './call.ts'
import { aFolder } from './folder.ts'
import { aKey, anOidcProvider } from './oidc-provider.ts'

type Provider = Pick<Awaited<ReturnType<typeof anOidcProvider>>, 'issuer' | 'caFile'>

const configuration = (fields: object) =>
  JSON.stringify({ apiVersion: 'apiserver.config.orch.io/v1', kind: 'AuthenticationConfiguration', ...fields })

/** An issuer in a configuration. */
function jwt({ issuer, caFile }: Provider, fields: object = {}, ofIssuer: object = {}): object {
  const certificateAuthority = readFileSync(caFile, 'utf8')
  return {
    issuer: { url: issuer, audiences: ['orch'], certificateAuthority, ...ofIssuer },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
    ...fields,
  }
}

async function aServer(fields: object, flags: readonly string[] = []) {
  const clock = createFakeClock(Date.now())
  const file = aFolder().write('authentication.json', configuration(fields))
  const server = await start({ flags: [`--authentication-config=${file}`, ...flags], clock })
  onTestFinished(() => server.stop())
  return {
    server,
    /** Writes a new configuration and waits until the metrics count the outcome. */
    async write(text: string, outcome: 'success' | 'failure'): Promise<void> {
      const total = async () => {
        const { body } = await server.client.transport.send({ method: 'GET', path: '/metrics', headers: {} })
        let text = ''
        for await (const chunk of body) text += Buffer.from(chunk).toString()
        const name = 'apiserver_authentication_config_controller_automatic_reloads_total'
        return Number(new RegExp(`^${name}{\\S+,status="${outcome}"} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
      }
      const before = await total()
      writeFileSync(file, text)
      await clock.advance(10_000)
      await expect.poll(total).toBe(before + 1)
    },
  }
}

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('AUC-15, AUC-16: two issuers with different mappings name their users', async () => {
  const [first, second] = [await anOidcProvider(aKey('one')), await anOidcProvider(aKey('two'))]
  const { server } = await aServer({
    jwt: [
      jwt(first, { claimMappings: { username: { claim: 'sub', prefix: 'a:' }, groups: { claim: 'teams', prefix: 'a:' } } }),
      jwt(second, {
        claimMappings: {
          username: { expression: "'b:' + claims.login" },
          groups: { expression: "claims.roles.split(',')" },
          uid: { expression: "'u-' + claims.sub" },
          extra: [{ key: 'acme.com/tenant', valueExpression: 'claims.tenant' }],
        },
      }),
    ],
  })
  expect(await whoAmI(server, as(await first.token({ sub: 'jane', teams: ['dev'] })))).toMatchObject({
    username: 'a:jane',
    groups: ['a:dev', 'system:authenticated'],
  })
  expect(await whoAmI(server, as(await second.token({ sub: '1', login: 'jane', roles: 'x,y', tenant: ['t1', ''] })))).toMatchObject({
    username: 'b:jane',
    uid: 'u-1',
    groups: ['x', 'y', 'system:authenticated'],
    extra: { 'acme.com/tenant': ['t1'] },
  })
})

test('AUC-05, AUC-12, AUC-13: a token for another audience, or refused by a rule, is refused', async () => {
  const provider = await anOidcProvider(aKey('one'))
  const rules = {
    claimValidationRules: [
      { claim: 'hd', requiredValue: 'acme.com' },
      { expression: 'claims.level >= 2', message: 'too low' },
    ],
    userValidationRules: [{ expression: "!user.username.startsWith('system:')", message: 'reserved' }],
  }
  const strict = await anOidcProvider(aKey('two'))
  const both = { audiences: ['orch', 'other'], audienceMatchPolicy: 'MatchAny' }
  const { server } = await aServer({ jwt: [jwt(provider, rules, both), jwt(strict)] })
  const good = { sub: 'jane', hd: 'acme.com', level: 2 }
  const nameOf = async (claims: object, audience = 'orch') =>
    ((await whoAmI(server, as(await provider.token(claims, audience)))) as { username?: string } | undefined)?.username
  expect([await nameOf(good), await nameOf(good, 'other')]).toEqual(['jane', 'jane'])
  expect(await whoAmI(server, as(await strict.token({ sub: 'jane' }, 'other')))).toBeUndefined()
  for (const wrong of [{ hd: 'evil.com' }, { level: 1 }, { level: 'x' }, { level: undefined }, { sub: 'system:admin' }]) {
    expect(await nameOf({ ...good, ...wrong })).toBeUndefined()
  }
})

test('AUC-17: an issuer that is unreachable from the start does not affect tokens of another issuer, which may rotate its keys', async () => {
  const [up, down] = [await anOidcProvider(aKey('one')), await anOidcProvider(aKey('down'))]
  const token = await down.token({ sub: 'john' })
  await down.goDown()
  const { server } = await aServer({ jwt: [jwt(down), jwt(up)] })
  expect(await whoAmI(server, as(await up.token({ sub: 'jane' })))).toMatchObject({ username: 'jane' })
  expect(await whoAmI(server, as(token))).toBeUndefined()
  await up.rotate(aKey('three'))
  expect(await whoAmI(server, as(await up.token({ sub: 'jill' })))).toMatchObject({ username: 'jill' })
})

test('AUC-18: a changed file is read again; a token of a removed issuer is refused at once, even if it was accepted before', async () => {
  const [first, second] = [await anOidcProvider(aKey('one')), await anOidcProvider(aKey('two'))]
  const { server, write } = await aServer({ jwt: [jwt(first)] })
  const [ofFirst, ofSecond] = [await first.token({ sub: 'jane' }), await second.token({ sub: 'john' })]
  expect([await whoAmI(server, as(ofFirst)), await whoAmI(server, as(ofSecond))]).toMatchObject([{ username: 'jane' }, undefined])
  await write(configuration({ jwt: [jwt(second)] }), 'success')
  expect([await whoAmI(server, as(ofFirst)), await whoAmI(server, as(ofSecond))]).toMatchObject([undefined, { username: 'john' }])
})

test('AUC-19: an invalid file leaves the current configuration in use, and is counted', async () => {
  const provider = await anOidcProvider(aKey('one'))
  const { server, write } = await aServer({ jwt: [jwt(provider)] })
  await write(configuration({ jwt: [{}] }), 'failure')
  await write('[', 'failure')
  expect(await whoAmI(server, as(await provider.token({ sub: 'jane' })))).toMatchObject({ username: 'jane' })
})

test('AUC-19: an invalid file at the start stops the server, with the field', async () => {
  await expect(aServer({ jwt: [{}] })).rejects.toThrow(/--authentication-config=.*: jwt\[0\]\.issuer\.url: Required value/)
})

test.each([['--oidc-issuer-url=https://a.example.com'], ['--oidc-client-id=a'], ['--oidc-groups-claim=a'], ['--oidc-required-claim=a=b']])(
  'AUC-20: the file excludes %s',
  async (flag) => {
    await expect(aServer({}, [flag])).rejects.toThrow('--authentication-config: not together with the --oidc flags')
  },
)

test('AUC-14, AUC-21: requests without credentials are admitted at the paths of the file, until it changes', async () => {
  const { server, write } = await aServer({ anonymous: { enabled: true, conditions: [{ path: '/livez' }] } })
  const codes = async () => [(await call(server, { path: '/livez' })).code, (await call(server, { path: '/version' })).code]
  expect(await codes()).toEqual([200, 401])
  await write(configuration({ anonymous: { enabled: true } }), 'success')
  expect(await codes()).toEqual([200, 200])
  await write(configuration({ anonymous: { enabled: false } }), 'success')
  expect(await codes()).toEqual([401, 401])
})

test.each([['--anonymous-auth'], ['--anonymous-auth=false'], ['--authorization-mode=AlwaysAllow']])(
  'AUC-21: the anonymous section of the file excludes %s',
  async (flag) => {
    await expect(aServer({ anonymous: { enabled: true } }, [flag])).rejects.toThrow(/anonymous: not together with --/)
  },
)
