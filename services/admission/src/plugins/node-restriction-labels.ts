import { domainLabel, type Names, subdomainLabel } from '@orch/core/names'

type Labels = Readonly<Record<string, string>>

/** Changed labels that a node must not set on itself, as they select the workloads scheduled to it. */
export function forbiddenLabels(after: Labels, before: Labels, names: Names): readonly string[] {
  const changed = new Set([...Object.keys(after), ...Object.keys(before)].filter((label) => after[label] !== before[label]))
  return [...changed].filter((label) => isForbidden(label, names)).sort()
}

function isForbidden(label: string, names: Names): boolean {
  const at = label.indexOf('/')
  const domain = at < 0 ? '' : label.slice(0, at)
  if (isWithin(domain, `node-restriction.${names.labelDomain}`)) return true
  if (!isWithin(domain, names.labelDomain) && !isWithin(domain, names.apiDomain)) return false
  return !isNodesOwn(label, domain, names)
}

/** True for labels that nodes set on themselves. */
function isNodesOwn(label: string, domain: string, names: Names): boolean {
  if (['kubelet', 'node'].some((word) => isWithin(domain, `${word}.${names.labelDomain}`))) return true
  const own = [
    ...['hostname', 'os', 'arch'].map((word) => domainLabel(names, word)),
    ...['instance-type', 'os', 'arch'].map((word) => subdomainLabel(names, 'beta', word)),
    ...['topology', 'failure-domain.beta'].flatMap((place) => ['zone', 'region'].map((word) => subdomainLabel(names, place, word))),
  ]
  return own.includes(label)
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`)
}
