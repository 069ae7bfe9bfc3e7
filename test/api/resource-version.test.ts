import { beforeAll, describe, expect, test } from 'vitest'
import {
  aName,
  aNamespace,
  anApi,
  configMap,
  configMapsIn,
  created,
  failure,
  namesOfItems,
  sharedApi,
  someConfigMaps,
  until,
  untilEverywhere,
} from './api.ts'

const server = sharedApi()

/** A collection whose history is known: the test created `a`, then `b`, then `c`. `versions[n]` is the version at which the collection had n objects. */
interface History {
  path: string
  versions: number[]
}

async function aHistory(): Promise<History> {
  const path = configMapsIn(await aNamespace(server.api))
  const versions = [Number((await server.api.get(path)).body.metadata.resourceVersion)]
  for (const name of ['a', 'b', 'c']) {
    versions.push(Number((await created(server.api, path, configMap({ name }))).metadata.resourceVersion))
  }
  return { path, versions }
}

const names = ['a', 'b', 'c']

describe('list', () => {
  let history: History
  beforeAll(async () => {
    history = await aHistory()
  })

  interface Reading {
    status: number
    version: number
    seen: string[]
  }

  const read = async (query: string): Promise<Reading> => {
    const { status, body } = await server.api.get(`${history.path}?${query.replace('<N>', String(history.versions[2]))}`)
    return { status, version: Number(body.metadata.resourceVersion), seen: namesOfItems(body) }
  }

  test.each([
    ['RV-04', 'no match, no limit, version unset', 'timeoutSeconds=10'],
    ['RV-07', 'no match, limit, version unset', 'limit=10'],
  ])('%s: %s gets the most recent state', async (_id, _what, query) => {
    const { status, version, seen } = await read(query)
    expect({ status, seen }).toEqual({ status: 200, seen: names })
    expect(version).toBeGreaterThanOrEqual(history.versions[3]!)
  })

  test.each([
    ['RV-05, RV-25', 'no match, no limit, version 0', 'resourceVersion=0'],
    ['RV-08', 'no match, limit, version 0', 'resourceVersion=0&limit=10'],
    ['RV-20', 'NotOlderThan, no limit, version 0', 'resourceVersionMatch=NotOlderThan&resourceVersion=0'],
    ['RV-23', 'NotOlderThan, limit, version 0', 'resourceVersionMatch=NotOlderThan&resourceVersion=0&limit=10'],
  ])('%s: %s gets any state', async (_id, _what, query) => {
    const { status, version, seen } = await read(query)
    expect(status).toBe(200)
    expect(version).toBeGreaterThan(0)
    expect(seen).toEqual(names.slice(0, seen.length))
  })

  test.each([
    ['RV-06, RV-27', 'no match, no limit, version N', 'resourceVersion=<N>'],
    ['RV-21', 'NotOlderThan, no limit, version N', 'resourceVersionMatch=NotOlderThan&resourceVersion=<N>'],
    ['RV-24', 'NotOlderThan, limit, version N', 'resourceVersionMatch=NotOlderThan&resourceVersion=<N>&limit=10'],
  ])('%s: %s gets a state not older than N', async (_id, _what, query) => {
    const { status, version, seen } = await read(query)
    expect(status).toBe(200)
    expect(version).toBeGreaterThanOrEqual(history.versions[2]!)
    expect(seen.slice(0, 2)).toEqual(['a', 'b'])
    expect(seen.length === 3 || version < history.versions[3]!).toBe(true)
  })

  test.each([
    ['RV-09', 'no match, limit, version N', 'resourceVersion=<N>&limit=10'],
    ['RV-15, RV-28', 'Exact, no limit, version N', 'resourceVersionMatch=Exact&resourceVersion=<N>'],
    ['RV-18', 'Exact, limit, version N', 'resourceVersionMatch=Exact&resourceVersion=<N>&limit=10'],
  ])('%s: %s gets exactly N', async (_id, _what, query) => {
    expect(await read(query)).toEqual({ status: 200, version: history.versions[2], seen: ['a', 'b'] })
  })

  const forbidden = (detail: string) => `Forbidden: ${detail}`
  const unless = forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided')
  const notExactZero = forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')

  test.each([
    ['RV-13', 'Exact, no limit, version unset', 'resourceVersionMatch=Exact', unless],
    ['RV-14', 'Exact, no limit, version 0', 'resourceVersionMatch=Exact&resourceVersion=0', notExactZero],
    ['RV-16', 'Exact, limit, version unset', 'resourceVersionMatch=Exact&limit=1', unless],
    ['RV-17', 'Exact, limit, version 0', 'resourceVersionMatch=Exact&resourceVersion=0&limit=1', notExactZero],
    ['RV-19, QP-05', 'NotOlderThan, no limit, version unset', 'resourceVersionMatch=NotOlderThan', unless],
    ['RV-22', 'NotOlderThan, limit, version unset', 'resourceVersionMatch=NotOlderThan&limit=1', unless],
  ])('%s: %s is refused', async (_id, _what, query, message) => {
    const { status, body } = await server.api.get(`${history.path}?${query}`)
    expect(status).toBe(422)
    expect(body).toEqual(
      failure(422, 'Invalid', `ListOptions.meta.orch.io "" is invalid: resourceVersionMatch: ${message}`, {
        group: 'meta.orch.io',
        kind: 'ListOptions',
        causes: [{ reason: 'FieldValueForbidden', message, field: 'resourceVersionMatch' }],
      }),
    )
  })

  test('QP-04: an unknown match is refused, and every error is reported', async () => {
    const { status, body } = await server.api.get(`${history.path}?resourceVersionMatch=Bogus`)
    expect(status).toBe(422)
    const unsupported = 'Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""'
    expect(body['message']).toBe(
      `ListOptions.meta.orch.io "" is invalid: [resourceVersionMatch: ${unless}, resourceVersionMatch: ${unsupported}]`,
    )
    expect(body['details']).toMatchObject({ causes: [{ reason: 'FieldValueForbidden' }, { reason: 'FieldValueNotSupported' }] })
  })

  test('RV-39: a continue token beside a match is refused', async () => {
    const { body: page } = await server.api.get(`${history.path}?limit=1`)
    const target = `${history.path}?limit=1&continue=${page.metadata.continue}&resourceVersion=1&resourceVersionMatch=Exact`
    expect((await server.api.get(target)).body).toMatchObject({
      code: 422,
      message: `ListOptions.meta.orch.io "" is invalid: resourceVersionMatch: ${forbidden('resourceVersionMatch is forbidden when continue is provided')}`,
    })
  })

  test('RV-08, CHUNK-03: a limit applies at version 0 too', async () => {
    const { body } = await until(
      () => server.api.get(`${history.path}?limit=1&resourceVersion=0`),
      ({ body }) => body.metadata.continue !== undefined,
    )
    expect(namesOfItems(body)).toEqual(['a'])
  })

  test('RV-26, READ-08: an acknowledged write is visible in the next read', async () => {
    const path = configMapsIn(await aNamespace(server.api))
    for (let turn = 1; turn <= 20; turn++) {
      await created(server.api, path, configMap({ name: `m-${turn}` }))
      expect((await server.api.get(path)).body.items).toHaveLength(turn)
    }
  })

  test('RV-28: items at an exact version have their state of that version', async () => {
    const path = configMapsIn(await aNamespace(server.api))
    const before = await created(server.api, path, configMap({ name: 'a', data: { x: '1' } }))
    await server.api.patch(`${path}/a`, { data: { x: '2' } })
    await server.api.delete(`${path}/a`)
    const { body } = await server.api.get(`${path}?resourceVersionMatch=Exact&resourceVersion=${before.metadata.resourceVersion}`)
    expect(body.items).toEqual([{ ...before, kind: 'ConfigMap', apiVersion: 'v1' }])
  })

  test('META-13: a resourceVersion that the server gave is accepted back', async () => {
    const { body: list } = await server.api.get(history.path)
    const { body: object } = await server.api.get(`${history.path}/a`)
    for (const version of [list.metadata.resourceVersion, object.metadata.resourceVersion]) {
      expect((await server.api.get(`${history.path}?resourceVersion=${version}`)).status).toBe(200)
      expect((await server.api.get(`${history.path}/a?resourceVersion=${version}`)).status).toBe(200)
    }
  })

  test('ERR-17: an invalid version is a bad request', async () => {
    for (const target of [history.path, `${history.path}/a`]) {
      const { status, body } = await server.api.get(`${target}?resourceVersion=abc`)
      expect({ status, reason: body['reason'], message: body['message'] }).toEqual({
        status: 400,
        reason: 'BadRequest',
        message: expect.stringContaining('invalid resource version: '),
      })
    }
  })
})

describe('the continuation of a list', () => {
  const secondPage = async (extra: string) => {
    const path = await someConfigMaps(server.api, 'a', 'b', 'c')
    const { body: first } = await server.api.get(`${path}?limit=2`)
    await created(server.api, path, configMap({ name: 'bb' }))
    await server.api.delete(`${path}/c`)
    const { status, body } = await server.api.get(`${path}?limit=2&continue=${first.metadata.continue}${extra}`)
    return { first, status, body }
  }

  test.each([
    ['RV-10, RV-30', 'version unset', ''],
    ['RV-11', 'version 0', '&resourceVersion=0'],
  ])('%s: with limit and continue, %s, shows the state of the first page', async (_id, _what, extra) => {
    const { first, status, body } = await secondPage(extra)
    expect(status).toBe(200)
    expect(namesOfItems(body)).toEqual(['c'])
    expect(body.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion })
  })

  test('RV-12, ERR-02: with a non-zero resourceVersion is a 400', async () => {
    const { status, body } = await secondPage('&resourceVersion=7')
    expect(status).toBe(400)
    expect(body).toEqual(failure(400, 'BadRequest', 'specifying resource version is not allowed when using continue'))
  })
})

describe('a get', () => {
  test('RV-01: without a version is the most recent', async () => {
    const path = await someConfigMaps(server.api, 'a')
    for (let turn = 0; turn < 10; turn++) {
      const { body } = await server.api.patch(`${path}/a`, { data: { turn: String(turn) } })
      expect((await server.api.get(`${path}/a`)).body).toEqual(body)
    }
  })

  test('RV-02: at version 0 is any version', async () => {
    const path = await someConfigMaps(server.api, 'a')
    // Any version, even the version of a replica that has not heard of the write yet.
    const answer = await until(
      () => server.api.get(`${path}/a?resourceVersion=0`),
      ({ status }) => status !== 404,
    )
    expect(answer).toMatchObject({ status: 200, body: { metadata: { name: 'a' } } })
  })

  test('RV-03: at version N returns a state that is not older', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body } = await server.api.patch(`${path}/a`, { data: { x: '1' } })
    expect((await server.api.get(`${path}/a?resourceVersion=${body.metadata.resourceVersion}`)).body).toEqual(body)
  })

  test('QP-04: ignores a match', async () => {
    const path = await someConfigMaps(server.api, 'a')
    expect((await server.api.get(`${path}/a?resourceVersionMatch=Bogus`)).status).toBe(200)
  })
})

describe('unavailable versions', () => {
  const future = '9007199254740000'

  // Each waits for three seconds.
  test.concurrent.for([
    ['RV-36, RV-37, RV-38, READ-10', 'a list', (path: string) => `${path}?resourceVersion=${future}`],
    ['RV-36, READ-10', 'a get', (path: string) => `${path}/a?resourceVersion=${future}`],
    ['RV-36', 'an exact list', (path: string) => `${path}?resourceVersionMatch=Exact&resourceVersion=${future}`],
  ] as const)('%s: %s in the future is a 504 that may be retried', async ([_id, _what, target], { expect }) => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, headers, body } = await server.api.get(target(path))
    expect(status).toBe(504)
    expect(headers['retry-after']).toBe('1')
    expect(body).toEqual(
      failure(
        504,
        'Timeout',
        expect.stringMatching(`^Timeout: Too large resource version: ${future}, current: \\d+$`) as unknown as string,
        {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      ),
    )
  })

  test('RV-29, RV-35, ERR-10, READ-11: an exact version that has been compacted is a 410', async () => {
    const api = await anApi({ watchHistoryMs: 20 })
    const path = await someConfigMaps(api, 'a')
    const { body } = await api.get(path)
    const version = body.metadata.resourceVersion
    await created(api, path, configMap({ name: aName() }))
    const exact = `${path}?resourceVersionMatch=Exact&resourceVersion=${version}`
    const { body: gone } = await untilEverywhere(
      () => api.get(exact),
      ({ status }) => status !== 200,
    )
    expect(gone).toEqual(failure(410, 'Expired', 'The resourceVersion for the provided list is too old.'))
    expect(await api.get(`${path}?limit=1&resourceVersion=${version}`)).toMatchObject({ status: 410, body: { reason: 'Expired' } })
    expect((await api.get(`${path}?resourceVersion=${version}`)).status).toBe(200)
  })
})
