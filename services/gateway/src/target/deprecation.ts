import type { Names } from '@orch/core/names'
import type { Metrics } from '@orch/platform'
import type { GatewayRequest } from '../request/request.ts'
import type { Target } from './target.ts'

/** Reports the use of a deprecated version: to the client, in the audit event and in the metrics. */
export type WarnOfDeprecation = (request: GatewayRequest, target: Target) => void

export function createDeprecationWarner(metrics: Metrics, names: Names): WarnOfDeprecation {
  const asked = metrics.gauge({
    name: 'apiserver_requested_deprecated_apis',
    help: '[STABLE] 1 where a version was asked for that is deprecated, by the release that it is removed in.',
    together: 'largest',
    labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
  })
  return (request, { served: { resource }, subresource }) => {
    const { deprecated, deprecationWarning, apiVersion, group, version, kind, plural } = resource
    if (deprecationWarning !== undefined) request.warn(deprecationWarning)
    if (deprecated === undefined) return
    const { since, removed, replacement } = deprecated
    asked.set({ group, version, resource: plural, subresource: subresource?.name ?? '', removed_release: removed ?? '' }, 1)
    request.annotate(`${names.apiDomain}/deprecated`, 'true')
    if (removed !== undefined) request.annotate(`${names.apiDomain}/removed-release`, removed)
    const until = removed === undefined ? '' : `, unavailable in v${removed}+`
    const instead = replacement === undefined ? '' : `; use ${replacement.group}/${replacement.version} ${replacement.kind}`
    request.warn(`${apiVersion} ${kind} is deprecated in v${since}+${until}${instead}`)
  }
}
