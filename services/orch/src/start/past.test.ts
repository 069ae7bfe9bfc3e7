import { createClient, type TransportRequest } from '@orch/client'
import { expect, test } from 'vitest'
import { pastOf } from './past.ts'

test('the difference of two revisions requests no changes below the compacted revision', async () => {
  const paths: string[] = []
  const client = createClient({
    async send({ path }: TransportRequest) {
      paths.push(path)
      const body = (async function* () {
        yield Buffer.from('{"items":[]}')
      })()
      return { status: 200, headers: {}, body }
    },
    close() {},
  })
  const revision = 1_000_001_500
  const storage = {
    status: async () => ({ epoch: 'e', revision, compacted: 1_000_000_000, refusing: '', bytes: 0, entries: 0, profile: '', members: [] }),
    revisionAt: async () => ({ revision, epoch: 'e' }),
  }
  expect(await pastOf({ client, url: '', ownPath: '/orch/v1', storage }).diff(0, revision)).toEqual([])
  expect(paths.map((path) => new URLSearchParams(path.split('?')[1]).get('after'))).toEqual(['1000000500', '1000000000'])
})
