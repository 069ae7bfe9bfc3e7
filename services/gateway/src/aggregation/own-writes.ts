import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { unlessAborted } from '@orch/platform'
import type { InProcessRequest, InProcessResponse } from '../exchange/in-process.ts'
import type { Surroundings } from '../surroundings.ts'
import type { ApiServiceCondition } from './api-service.ts'

/**
 * The server's own writes of APIServices, made like a client's. Each write resolves to true if it changed the object itself, and to false if another
 * gateway did.
 */
export type OwnWrites = ReturnType<typeof createOwnWrites>

/** The dependencies of a write. */
export interface OwnWritesOptions extends Pick<Surroundings, 'names' | 'pathPrefix'> {
  readonly send: (request: InProcessRequest) => Promise<InProcessResponse>
  /** Open writes are no longer awaited once this is aborted. */
  readonly closed: AbortSignal
}

/** Several gateways may write at the same time: another's faster write is no failure, as the change is watched here. */
const harmless: ReadonlySet<number> = new Set([404, 409])

export function createOwnWrites({ names, pathPrefix, send, closed }: OwnWritesOptions) {
  const collection = `${pathPrefix}/apis/${domainGroup(names, 'apiregistration')}/v1/apiservices`
  // The storage of a stopping server may no longer answer.
  const write = (method: string, path: string, body: object): Promise<boolean> => unlessAborted(answered(method, path, body), closed)
  const answered = async (method: string, path: string, body: object): Promise<boolean> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { 'content-type': type, 'user-agent': names.serverManager }
    const { status, body: answer } = await send({ method, path, headers, body: JSON.stringify(body) })
    const chunks: Uint8Array[] = []
    for await (const chunk of answer) chunks.push(chunk)
    if (status < 300 || harmless.has(status)) return status < 300
    throw new Error(`${method} ${path}: ${status} ${Buffer.concat(chunks)}`)
  }
  return {
    create: (object: ApiObject) => write('POST', collection, object),
    replace: (object: ApiObject, revision: number) =>
      write('PUT', `${collection}/${object.metadata.name}`, {
        ...object,
        metadata: { ...object.metadata, resourceVersion: String(revision) },
      }),
    delete: (name: string, uid: string) => write('DELETE', `${collection}/${name}`, { preconditions: { uid } }),
    patchStatus: (name: string, revision: number, conditions: readonly ApiServiceCondition[]) =>
      write('PATCH', `${collection}/${name}/status`, { metadata: { resourceVersion: String(revision) }, status: { conditions } }),
  }
}
