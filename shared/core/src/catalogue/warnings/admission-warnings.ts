import type { WarningRule } from '../../kind/define-resource.ts'
import { domainGroup } from '../../names.ts'
import { itemsOf } from '../../validation/part.ts'
import { staticNameProblem } from '../validation/static-names.ts'

/** The first level that warns of names that are left to the manifests of a folder. */
const staticNamesWarnedSince = 36

/** The warnings of a policy, of its binding, and of a configuration of webhooks: their names. */
export const warningsOfStaticName: WarningRule = (object, _live, names, level) => {
  const problem = level < staticNamesWarnedSince ? undefined : staticNameProblem(object, names)
  return problem === undefined ? [] : [`metadata.name: ${problem}`]
}

/** The first level that warns of rules that name questions to the server, which no webhook sees. */
const reviewsWarnedSince = 37
const reviews = {
  authentication: ['selfsubjectreviews', 'tokenreviews'],
  authorization: ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'],
} as const

/** As `warningsOfStaticName`, and the rules of webhooks that match nothing. A rule with a wildcard may mean others. */
export const warningsOfWebhooks: WarningRule = (configuration, live, names, level) => {
  const said = warningsOfStaticName(configuration, live, names, level)
  if (level < reviewsWarnedSince) return said
  const unseen = new Set(
    Object.entries(reviews).flatMap(([area, plurals]) => plurals.map((plural) => `${plural}.${domainGroup(names, area)}`)),
  )
  for (const [index, webhook] of itemsOf(configuration, 'webhooks').entries()) {
    for (const [place, rule] of itemsOf(webhook, 'rules').entries()) {
      const [groups, resources] = [itemsOf<string>(rule, 'apiGroups'), itemsOf<string>(rule, 'resources')]
      if (groups.includes('*') || resources.includes('*')) continue
      const named = new Set(groups.flatMap((group) => resources.map((resource) => `${resource}.${group}`)))
      for (const one of named) {
        if (unseen.has(one)) {
          said.push(`webhooks[${index}].rules[${place}]: ${one} is excluded from admission webhooks; this rule will have no effect`)
        }
      }
    }
  }
  return said
}
