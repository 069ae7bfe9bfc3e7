import { isJsonObject } from '@orch/core/json'
import { badRequest } from '@orch/core/meta'

/** A request at an object's own path must have its name in the body too. */
export function requireNameInBody(body: unknown, name: string, kind: string): void {
  const metadata = isJsonObject(body) && isJsonObject(body['metadata']) ? body['metadata'] : {}
  if (metadata['name'] !== name) throw badRequest(`name in URL does not match name in ${kind} object`)
}
