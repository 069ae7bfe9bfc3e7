import type { Subresource } from '@orch/core/catalogue'
import { badRequest } from '@orch/core/meta'
import { type GatewayRequest, queryBoolean } from '../request/index.ts'
import type { SubresourceTarget, Target } from '../target/target.ts'
import { type AdmitBodyParts, admitBody } from '../write/admit-body.ts'

/** The boolean parameters of a connection. */
const flags = ['stdin', 'stdout', 'stderr', 'tty'] as const
const streams: ReadonlySet<string> = new Set(['exec', 'attach'])

/** Calls admission for a connection, before any lookup. Its object contains the query's options. */
export async function admitConnection(request: GatewayRequest, target: SubresourceTarget, parts: AdmitBodyParts): Promise<void> {
  if (request.query.all('dryRun').length > 0) throw badRequest('dryRun is not supported')
  const described = target.subresource
  const options = { isDryRun: false, object: undefined }
  const asked = { request, target, operation: 'CONNECT', described, name: target.info.name, options } as const
  await admitBody({ ...asked, object: optionsOf(request, target, described) }, parts)
}

function optionsOf(
  { query }: GatewayRequest,
  { info }: Target,
  { name, kind, apiVersion }: Subresource,
): { readonly kind: string; readonly apiVersion: string } {
  const options: Record<string, unknown> = {}
  if (streams.has(name)) {
    for (const flag of flags) if (query.get(flag) !== undefined) options[flag] = queryBoolean(query, flag)
    const container = query.get('container')
    if (container !== undefined) options['container'] = container
    if (name === 'exec') options['command'] = query.all('command')
  }
  if (name === 'portforward') options['ports'] = query.all('ports').map(Number).filter(Number.isInteger)
  if (name === 'proxy') options['path'] = info.rest.length === 0 ? (query.get('path') ?? '') : `/${info.rest.join('/')}`
  return { kind, apiVersion, ...options }
}
