import { countingOf } from '@orch/core/catalogue'
import { type AdmissionRule, type Attributes, objectKey } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import { domainGroup } from '@orch/core/names'
import {
  type Amounts,
  type Counting,
  growthOf,
  isQuotaFor,
  type LimitedResource,
  maskAmounts,
  negativeNames,
  printAmounts,
  quotaManager,
  type ScopeRequirement,
  scopeRequirements,
  uncoveredUse,
} from '@orch/core/quota'
import { limits } from '../limits.ts'
import { allowed, denied, forbid, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import { ledgerPrefix, type QuotaAccount } from '../quota/account.ts'
import { QuotaAccounts } from '../quota/accounts.ts'
import { readLimitedResources } from '../quota/configuration.ts'
import type { Reservation } from '../quota/ledger.ts'
import { hardOf, type StoredQuota } from '../quota/quota-object.ts'
import { metadataOf, newObject } from './objects.ts'

/**
 * ResourceQuota: a create, a resize of a Pod, and a change of a Service or claim must not exceed the quotas of its namespace. Usage is reserved
 * before the commit, in a row that all admission processes change at its read revision; so together they cannot exceed a quota.
 */
export function resourceQuota(needs: PluginNeeds): Plugin {
  const { catalogue, clock } = needs
  const limited = readLimitedResources(needs.configuration, domainGroup(catalogue.names, 'apiserver.config'))
  const accounts = new QuotaAccounts(needs)
  const manager = quotaManager(catalogue.names)
  const hasRoom = async (attributes: Attributes, { context }: Inquiry): Promise<Verdict> => {
    const question = questionOf(attributes, needs)
    if (question === undefined) return allowed
    const found = pertinent(question, await accounts.surelyIn(attributes.namespace), limited)
    if (found.kind === 'refused') return denied(forbid(attributes, found.why))
    const deadlineMs = clock.now() + (context.timeoutMs ?? limits.quotaDeadlineMs) + limits.quotaDeadlineSlackMs
    return reserveAll(accounts, found.quotas, { ...question, deadlineMs })
  }
  return {
    get admissionRules() {
      return admissionRulesOf(accounts.namespaces, limited)
    },
    followed: accounts,
    async mutate(attributes) {
      // The quota controller writes its count without knowing reservations, so the count is made here.
      const { subresource, options } = attributes
      if (subresource !== 'status' || !isJsonObject(options) || options['fieldManager'] !== manager) return allowed
      const quota = (await accounts.surelyIn(attributes.namespace)).find(({ object }) => object.metadata.name === attributes.name)
      if (quota === undefined) return allowed
      const { used, ledger } = await accounts.account(quota.key).recount()
      const object = newObject('core/v1.ResourceQuota', attributes)
      return { kind: 'allowed', object: { ...object, status: { ...object.status, used } }, conditions: [ledger] }
    },
    validate: hasRoom,
    async settle({ reservations, isCommitted, revision }) {
      const own = reservations.filter((reservation) => reservation.startsWith(`${ledgerPrefix}/`))
      await Promise.all(own.map((reservation) => settleOne(accounts, reservation, isCommitted ? revision : undefined)))
    },
    close: () => accounts.close(),
  }
}

/** All creates in namespaces with quotas, and resources that need a quota. */
function admissionRulesOf(known: readonly string[] | undefined, limited: readonly LimitedResource[]): AdmissionRule[] {
  const counts: AdmissionRule = {
    phase: 'mutate',
    operations: ['UPDATE'],
    groups: [''],
    resources: ['resourcequotas/status'],
    namespaces: [],
  }
  const common = { phase: 'validate', operations: ['CREATE', 'UPDATE'] }
  const everywhere = limited.map(({ apiGroup, resource }) => {
    return { ...common, groups: [apiGroup], resources: [resource, `${resource}/resize`], namespaces: [] }
  })
  if (known?.length === 0) return [counts, ...everywhere]
  // Until the namespaces with quotas are known, every request is checked.
  const namespaces = known === undefined || known.length > limits.admissionRuleNamespacesMax ? [] : known
  return [
    counts,
    { phase: 'validate', operations: ['CREATE'], groups: ['*'], resources: ['*'], namespaces },
    {
      phase: 'validate',
      operations: ['UPDATE'],
      groups: [''],
      resources: ['services', 'persistentvolumeclaims', 'pods/resize'],
      namespaces,
    },
    ...everywhere,
  ]
}

/** A write that may need capacity. */
interface Question {
  readonly attributes: Attributes
  readonly counting: Counting
  readonly usage: Amounts
  /** The increase of the usage. */
  readonly growth: Amounts
  /** Key under which the object is stored. */
  readonly key: string
}

/** Undefined if no quota applies. */
function questionOf(attributes: Attributes, { catalogue, clock }: PluginNeeds): Question | undefined {
  const { namespace, name, group, version, resource, operation, object, oldObject, subresource } = attributes
  const isResize = group === '' && resource === 'pods' && subresource === 'resize'
  if (namespace === '' || (subresource !== '' && !isResize) || (group === '' && resource === 'namespaces')) return undefined
  const counting = countingOf(catalogue.names, { group, resource })
  if (operation === 'UPDATE' && !counting.countsUpdates && !isResize) return undefined
  const usage = counting.usage(object, clock.now())
  const growth = growthOf(oldObject === undefined ? new Map() : counting.usage(oldObject, clock.now()), usage)
  const prefix = catalogue.find(group, version, resource)?.stored.prefix ?? `${group}/${resource}`
  return { attributes, counting, usage, growth, key: objectKey(prefix, namespace, name) }
}

type Pertinent =
  | { readonly kind: 'pertinent'; readonly quotas: readonly StoredQuota[] }
  | { readonly kind: 'refused'; readonly why: string }

/** The quotas that apply to the object. */
function pertinent(question: Question, all: readonly StoredQuota[], limited: readonly LimitedResource[]): Pertinent {
  const { attributes, counting, usage, growth } = question
  const coveredScopes: ScopeRequirement[] = []
  const coveredNames = new Set<string>()
  const quotas: StoredQuota[] = []
  for (const quota of all) {
    const { spec = {}, metadata } = quota.object
    coveredScopes.push(...scopeRequirements(spec).filter((scope) => counting.isInScope(attributes.object, scope)))
    const hard = hardOf(quota.object)
    if (!isQuotaFor(spec, hard, counting, attributes.object)) continue
    const names = [...hard.keys()].filter(counting.concerns)
    const omissions = counting.omissions(attributes.object, names)
    if (omissions !== undefined) return { kind: 'refused', why: `failed quota: ${metadata.name}: ${omissions}` }
    for (const name of names) coveredNames.add(name)
    quotas.push(quota)
  }
  const negative = negativeNames(usage)
  if (negative.length > 0) return { kind: 'refused', why: `quota usage is negative for resource(s): ${negative.join(',')}` }
  if (growth.size === 0) return { kind: 'pertinent', quotas: [] }
  const why = uncoveredUse(limited, { counting, object: attributes.object, usage }, { names: coveredNames, scopes: coveredScopes })
  return why === undefined ? { kind: 'pertinent', quotas } : { kind: 'refused', why }
}

/** Usage is reserved in all quotas or in none. */
async function reserveAll(
  accounts: QuotaAccounts,
  quotas: readonly StoredQuota[],
  question: Question & { readonly deadlineMs: number },
): Promise<Verdict> {
  const { attributes, growth } = question
  const taken: { readonly account: QuotaAccount; readonly id: string; readonly reservation: string }[] = []
  for (const { key, object } of quotas) {
    const amounts = maskAmounts(growth, hardOf(object))
    if (amounts.size === 0) continue
    const account = accounts.account(key)
    const wanted = reservationOf(question, amounts)
    const outcome = attributes.dryRun ? await account.check(wanted) : await account.reserve(wanted)
    if (outcome.kind === 'exceeded') {
      await Promise.all(taken.map(({ account, id }) => account.settle({ id, revision: undefined })))
      return denied(forbid(attributes, outcome.message))
    }
    const { namespace, name = '' } = object.metadata
    taken.push({ account, id: wanted.id, reservation: `${objectKey(ledgerPrefix, namespace, name)}/${wanted.id}` })
  }
  if (taken.length === 0 || attributes.dryRun) return allowed
  return { kind: 'allowed', reservations: taken.map(({ reservation }) => reservation) }
}

function reservationOf({ attributes, deadlineMs, key }: Question & { readonly deadlineMs: number }, amounts: Amounts): Reservation {
  const { writeId, object, oldObject } = attributes
  const { uid = '' } = metadataOf(object)
  const expected = Number(metadataOf(oldObject).resourceVersion ?? 0)
  return {
    id: `${writeId}.${uid}.${expected}`,
    amounts: printAmounts(amounts),
    key,
    uid,
    expected,
    deadlineMs,
  }
}

async function settleOne(accounts: QuotaAccounts, reservation: string, revision: number | undefined): Promise<void> {
  const [namespace = '', name = '', id = ''] = reservation.slice(ledgerPrefix.length + 1).split('/')
  const quota = accounts.in(namespace).find(({ object }) => object.metadata.name === name)
  // The reservations of a quota are deleted with it.
  if (quota !== undefined) await accounts.account(quota.key).settle({ id, revision })
}
