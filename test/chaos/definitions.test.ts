import type { Client, JsonRequest } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { describe, expect, test, vi } from 'vitest'
import { startLives } from './definition-lives.ts'

const seed = 7

type Answer = (request: JsonRequest) => unknown

/** A simple server in a few lines, with a test's additions. */
function aServer(planted: Answer = () => undefined): { readonly client: Client; readonly keys: Set<string> } {
  const keys = new Set<string>()
  const refused = (code: number) =>
    new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: '', code })
  const request = async ({ method, path, body }: JsonRequest): Promise<unknown> => {
    await new Promise((resolve) => setImmediate(resolve))
    const wrong = planted({ method, path, body })
    if (typeof wrong === 'number') throw refused(wrong)
    if (wrong !== undefined) return wrong
    const { metadata = { name: '' } } = (body ?? {}) as { metadata?: { name: string } }
    const isDefinition = path.includes('customresourcedefinitions')
    const collection = path.split('/').slice(4).join('/')
    const isServed = [...keys].some((key) => key.startsWith('definition '))
    if (isDefinition && method === 'POST') {
      keys.add(`definition ${metadata.name}`)
      return { metadata, status: { conditions: [{ type: 'Established', status: 'True' }] } }
    }
    if (isDefinition && method === 'DELETE') {
      keys.clear()
      return {}
    }
    if (!isServed) throw refused(404)
    if (isDefinition) return { metadata: {} }
    if (method === 'POST') {
      keys.add(metadata.name)
      return {}
    }
    if (method === 'DELETE') return keys.delete(collection.split('/').at(-1) ?? '')
    return { items: [...keys].filter((key) => !key.startsWith('definition ')).map((name) => ({ metadata: { name } })) }
  }
  return { client: { request } as unknown as Client, keys }
}

async function faultsOf(planted?: Answer, keysBelow: readonly string[] = []): Promise<readonly string[]> {
  const { client } = aServer(planted)
  const lives = startLives({ clients: [client, client], seed, workers: 1, keysBelow: async () => keysBelow })
  await vi.waitFor(() => expect(lives.counts.removals + lives.faults.length).toBeGreaterThan(2), { timeout: 60_000 })
  await lives.stop()
  return lives.faults
}

describe('reported violations', () => {
  test('are absent in an empty run', async () => {
    expect(await faultsOf()).toEqual([])
  })

  test.each<readonly [string, Answer | undefined, readonly string[], RegExp]>([
    [
      'a list that is a 404',
      ({ method, path }) => (method === 'GET' && path.endsWith('/kinds0') ? 404 : undefined),
      [],
      /404 after the acknowledgement/,
    ],
    [
      'a create that is a 404',
      ({ method, path }) => (method === 'POST' && path.endsWith('/kinds0') ? 404 : undefined),
      [],
      /404 for a create/,
    ],
    [
      'an object that is lost',
      ({ method, path }) => (method === 'GET' && path.endsWith('/kinds0') ? { items: [] } : undefined),
      [],
      /lost o/,
    ],
    [
      'an object that no client made',
      ({ method, path }) => (method === 'GET' && path.endsWith('/kinds0') ? { items: [{ metadata: { name: 'x' } }] } : undefined),
      [],
      /has x/,
    ],
    ['objects that stay', undefined, ['a'], /objects without a definition: a/],
    [
      'a definition that is not established',
      ({ method, path }) => (method === 'POST' && path.endsWith('definitions') ? { status: { conditions: [] } } : undefined),
      [],
      /not established/,
    ],
  ])('include %s', async (_, planted, keysBelow, fault) => {
    expect((await faultsOf(planted, keysBelow)).join('\n')).toMatch(fault)
  })
})
