import type { Catalogue } from '@orch/core/catalogue'
import type { AdmissionRule } from '@orch/core/contracts'
import { compareTexts, parseBytes } from '@orch/core/json'
import { memo } from '@orch/core/memo'
import type { ApiObject } from '@orch/core/meta'
import { domainGroup } from '@orch/core/names'
import { ended, Listeners, Reflector } from '@orch/platform'
import type { Manifests } from '../manifests/manifests.ts'
import type { Criteria, WebhookRule } from '../matching/criteria.ts'
import type { Equivalents } from '../matching/equivalents.ts'
import { matchesRule } from '../matching/match.ts'
import type { PluginNeeds } from '../plugin.ts'
import { readWebhooks, type Webhook } from './webhook.ts'

export interface ConfigurationNeeds extends Pick<PluginNeeds, 'storage' | 'catalogue' | 'clock' | 'log' | 'random'> {
  readonly equivalents: Equivalents
  readonly manifests: Manifests
  /** The kind and the plural of the mutating or the validating configurations. */
  readonly kind: string
  readonly plural: string
  readonly phase: 'mutate' | 'validate'
}

/** All webhooks of one kind of configuration in memory. */
export type Configurations = ReturnType<typeof followConfigurations>

/** Watches the configurations. */
export function followConfigurations(needs: ConfigurationNeeds) {
  const { storage, catalogue, clock, log, random, equivalents, manifests, kind, plural, phase } = needs
  const closed = new AbortController()
  const resource = `${domainGroup(catalogue.names, 'admissionregistration')}/${plural}`
  const rulesOf = admissionRulesReader(phase, { catalogue, equivalents })
  const decode = (value: Uint8Array): { readonly name: string; readonly webhooks: readonly Webhook[] } => {
    // The gateway has validated all objects in storage.
    const object: ApiObject = parseBytes(value)
    return { name: object.metadata.name ?? '', webhooks: readWebhooks(object) }
  }
  const reflector = new Reflector({ storage, clock, log, random, resource, decode, signal: closed.signal })
  const listeners = new Listeners()
  let isLoaded = false
  let made: ReturnType<typeof make> | undefined
  const changed = () => {
    made = undefined
    listeners.call()
  }
  const make = () => {
    const ofManifests = manifests.of(kind).flatMap(readWebhooks)
    const stored = [...reflector.values()].sort((left, right) => compareTexts(left.name, right.name)).flatMap((kept) => kept.webhooks)
    const webhooks = [...ofManifests, ...stored]
    const admissionRules = isLoaded ? webhooks.flatMap(rulesOf) : [everythingIn(phase)]
    return { ofManifests, webhooks, admissionRules }
  }
  const current = () => {
    made ??= make()
    return made
  }
  reflector.onChange(changed)
  manifests.onChange(changed)
  const ready = reflector.ready.then(() => {
    isLoaded = true
    changed()
  })
  ready.catch(() => undefined)
  return {
    /** Before the first load every request matches. */
    ready,
    /** Webhooks of manifests, then stored ones, by name of the configuration and in its order. */
    get webhooks() {
      return current().webhooks
    },
    get ofManifests() {
      return current().ofManifests
    },
    get admissionRules() {
      return current().admissionRules
    },
    get sources() {
      return [{ resource, revision: reflector.revision }]
    },
    onChange: (listener: () => void) => void listeners.add(listener),
    close: () => closed.abort(ended),
  }
}

/** The rule of a configuration before its matches are known. */
export function everythingIn(phase: string): AdmissionRule {
  return { phase, operations: ['*'], groups: ['*'], resources: ['*/*'], namespaces: [] }
}

interface AdmissionRuleNeeds {
  readonly catalogue: Catalogue
  readonly equivalents: Equivalents
}

/**
 * Makes the rules of webhooks and policies, once for each as long as it is unchanged. Versions, scopes and selectors are evaluated for each request;
 * these rules never match too few requests.
 */
export function admissionRulesReader(phase: string, needs: AdmissionRuleNeeds) {
  const ruleOf = (rule: WebhookRule, isEquivalentMatched: boolean): AdmissionRule => ({
    phase,
    operations: [...rule.operations],
    groups: isEquivalentMatched ? withEquivalents(rule, needs) : [...rule.groups],
    resources: rule.resources.flatMap(toAdmissionRule),
    namespaces: [],
  })
  return memo(({ rules, isEquivalentMatched }: Pick<Criteria, 'rules' | 'isEquivalentMatched'>) =>
    rules.map((rule) => ruleOf(rule, isEquivalentMatched)),
  )
}

/** `pods/*` includes pods. */
function toAdmissionRule(pattern: string): string[] {
  const [resource = ''] = pattern.split('/')
  return pattern.endsWith('/*') && resource !== '*' ? [resource, pattern] : [pattern]
}

/** Groups that serve the objects of a rule. */
function withEquivalents(rule: WebhookRule, { catalogue, equivalents }: AdmissionRuleNeeds): string[] {
  if (rule.groups.includes('*')) return ['*']
  const groups = new Set(rule.groups)
  for (const resource of catalogue.resources) {
    const subject = { ...resource, operation: '', resource: resource.plural, subresource: '' }
    const isMeant = rule.resources.some((pattern) => {
      const [wanted = ''] = pattern.split('/')
      return matchesRule({ ...rule, operations: ['*'], scope: '*', resources: [wanted] }, subject)
    })
    if (isMeant) for (const group of equivalents.groupsOf(resource)) groups.add(group)
  }
  return [...groups]
}
