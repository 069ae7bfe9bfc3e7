import type { Catalogue, Resource } from '@orch/core/catalogue'
import { type ApiObject, badRequest, withoutSecretValues } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { type AuthorizeParts, decide } from '../authorization/authorizer.ts'
import { readTimeline, type TimelineChange, type TimelineParts, type TimelineQuery } from '../history/timeline.ts'
import { callContext, type GatewayRequest, queryInteger, refuseUnknownParameters } from '../request/index.ts'
import { type DocumentHandler, printedResponse } from './document.ts'

/** The dependencies of the timeline. */
export type TimelineRouteParts = AuthorizeParts &
  Omit<TimelineParts, 'catalogue'> & { readonly catalogue: Catalogue; readonly clock: Clock }

const parameters = ['resource', 'namespace', 'name', 'after', 'before', 'limit', 'values']

const limitDefault = 100

/** Maximum changes authorized and printed in one turn of the event loop. */
const printedPerTurn = 64

/**
 * Serves the changes of stored objects, newest first. The path needs a permission, and each change needs the right to get the object, or it is left out:
 * the old values of a Secret are as secret as the current ones.
 */
export const timelineRoute: DocumentHandler<TimelineRouteParts> = async (context) => {
  const { request, parts } = context
  const { query, values } = readQuery(request, parts.catalogue)
  const { changes, revision, oldest, next } = await readTimeline(query, parts, callContext(request, parts))
  const shown: Uint8Array[] = []
  const isAllowed = createRights(request, parts)
  for (const [index, change] of changes.entries()) {
    if (index % printedPerTurn === printedPerTurn - 1) await parts.pace.turn()
    if (await isAllowed(change)) shown.push(Buffer.from(shown.length === 0 ? '' : ','), ...printed(change, values))
  }
  const head = {
    kind: 'Timeline',
    revision: String(revision),
    oldest: String(oldest),
    ...(next === undefined ? {} : { next: String(next) }),
  }
  const opening = `${JSON.stringify(head).slice(0, -1)},"items":[`
  return printedResponse(context, Buffer.concat([Buffer.from(opening), ...shown, Buffer.from(']}')]))
}

function readQuery(request: GatewayRequest, catalogue: Catalogue): { readonly query: TimelineQuery; readonly values: string } {
  const { query } = request
  refuseUnknownParameters(query, parameters)
  const [text, name, values] = [query.get('resource'), query.get('name'), query.get('values') ?? 'false']
  const resource = text === undefined ? undefined : findResource(text, catalogue)
  if (!['true', 'false', 'redacted'].includes(values)) throw badRequest(`values: ${values}: must be true, false or redacted`)
  return {
    values,
    query: {
      resource,
      namespace: query.get('namespace'),
      name,
      after: queryInteger(query, 'after'),
      before: queryInteger(query, 'before'),
      limit: queryInteger(query, 'limit') ?? limitDefault,
    },
  }
}

/** The resource of `deployments.apps` or `pods`, in any version. */
function findResource(text: string, catalogue: Catalogue): Resource {
  const [plural = '', ...rest] = text.split('.')
  const group = rest.join('.')
  const found = catalogue.resources.find((one) => one.plural === plural && one.group === group)
  if (found !== undefined) return found
  throw badRequest(`resource: ${text}: is not served; expected a plural with its group, such as pods or deployments.apps`)
}

/** Authorizes each object once. */
function createRights({ user }: GatewayRequest, { authorizers }: TimelineRouteParts): (change: TimelineChange) => Promise<boolean> {
  const known = new Map<string, boolean>()
  return async ({ served, entry: { namespace = '', name } }) => {
    const object = `${served.stored.prefix}/${namespace}/${name}`
    const decided = known.get(object)
    if (decided !== undefined) return decided
    const { group, version, plural: resource } = served
    const access = { kind: 'resource', verb: 'get', group, version, namespace, resource, name, subresource: '', rest: [] } as const
    const isAllowed = (await decide(authorizers, user, access)).kind === 'allow'
    known.set(object, isAllowed)
    return isAllowed
  }
}

function printed({ entry, before, after }: TimelineChange, values: string): Uint8Array[] {
  const head = JSON.stringify({ ...entry, revision: String(entry.revision) })
  if (values === 'false') return [Buffer.from(head)]
  const isHidden = values === 'redacted' && entry.kind === 'Secret'
  const value = (name: string, bytes: Uint8Array | undefined) =>
    bytes === undefined ? [] : [Buffer.from(`,"${name}":`), isHidden ? redacted(bytes) : bytes]
  return [Buffer.from(head.slice(0, -1)), ...value('before', before), ...value('after', after), Buffer.from('}')]
}

function redacted(bytes: Uint8Array): Uint8Array {
  const object: ApiObject = JSON.parse(Buffer.from(bytes).toString())
  return Buffer.from(JSON.stringify(withoutSecretValues(object)))
}
