import type { WarningRule } from '../../kind/define-resource.ts'
import { memo } from '../../memo.ts'
import { domainGroup, type Names } from '../../names.ts'
import { itemsOf } from '../../validation/part.ts'
import { staticNameProblem } from '../validation/static-names.ts'

/** The first level that warns about names reserved for static manifests. */
const staticNamesWarnedSince = 36

/** The warnings about the name of a policy, a binding or a webhook configuration. */
export const warningsOfStaticName: WarningRule = (object, _live, names, { level }) => {
  const problem = level < staticNamesWarnedSince ? undefined : staticNameProblem(object, names)
  return problem === undefined ? [] : [`metadata.name: ${problem}`]
}

/** The gate that keeps reviews from webhooks. */
export const reviewsGate = 'ExcludeAdmissionWebhookVirtualResources'

const reviews = {
  authentication: ['selfsubjectreviews', 'tokenreviews'],
  authorization: ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'],
} as const

/** The resources of reviews that clients and webhooks post to ask for their rights, each with its group: `tokenreviews.authentication.k8s.io`. */
export const reviewResources = memo(
  (names: Names): ReadonlySet<string> =>
    new Set(Object.entries(reviews).flatMap(([area, plurals]) => plurals.map((plural) => `${plural}.${domainGroup(names, area)}`))),
)

/** Like `warningsOfStaticName`, and warnings about rules of webhooks that match no request. Rules with a wildcard are not checked. */
export const warningsOfWebhooks: WarningRule = (configuration, live, names, at) => {
  const said = warningsOfStaticName(configuration, live, names, at)
  if (!at.isGateOn(reviewsGate)) return said
  for (const [index, webhook] of itemsOf(configuration, 'webhooks').entries()) {
    for (const [place, rule] of itemsOf(webhook, 'rules').entries()) {
      const [groups, resources] = [itemsOf<string>(rule, 'apiGroups'), itemsOf<string>(rule, 'resources')]
      if (groups.includes('*') || resources.includes('*')) continue
      const named = new Set(groups.flatMap((group) => resources.map((resource) => `${resource}.${group}`)))
      for (const one of named) {
        if (reviewResources(names).has(one)) {
          said.push(`webhooks[${index}].rules[${place}]: ${one} is excluded from admission webhooks; this rule will have no effect`)
        }
      }
    }
  }
  return said
}
