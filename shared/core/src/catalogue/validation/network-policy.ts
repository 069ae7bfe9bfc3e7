import { memo } from '@orch/cel/memo'
import { list, ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { forbiddenValue, invalidTexts, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { cidrFamilyOf, parseIp, validateLegacyCidr } from '../../validation/ip-address.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { checkPortNumber } from '../../validation/texts.ts'
import { addressesChecked, isGiven, numberOf, validatePort } from './checks.ts'

export const networkPolicyRules: Readonly<Record<string, TypeRules>> = {
  'networking/v1.NetworkPolicySpec': ['podSelector', 'ingress', 'egress', { decisive: refuseMoreTypes }, 'policyTypes'],
  'networking/v1.NetworkPolicyPort': ['protocol', validateRulePort],
  'networking/v1.NetworkPolicyPeer': ['podSelector', 'namespaceSelector', validatePeer],
}

function refuseMoreTypes(errors: FieldError[], spec: Part, at: string): void {
  const types = itemsOf<string>(spec, 'policyTypes')
  if (types.length <= 2) return
  errors.push(invalidTexts(`${at}.policyTypes`, types, 'may not specify more than two policyTypes', list(ref('networking/v1.PolicyType'))))
}

/** The first level at which kube-apiserver is known to report the end port instead of the port. */
const endShownSince = 34

function validateRulePort(errors: FieldError[], rule: Part, at: string, { level }: RuleContext): void {
  const { port } = rule
  const end = numberOf(rule, 'endPort')
  const refuse = (detail: string, value: unknown = end): void => void errors.push(invalidValue(`${at}.endPort`, value, detail))
  if (!isGiven(rule, 'port')) {
    if (end !== undefined) refuse('may not be specified when `port` is not specified')
    return
  }
  if (typeof port === 'string' && end !== undefined) refuse('may not be specified when `port` is non-numeric')
  validatePort(errors, port, `${at}.port`)
  if (typeof port !== 'number' || end === undefined) return
  if (end < port) refuse('must be greater than or equal to `port`', level < endShownSince ? port : end)
  for (const problem of checkPortNumber(Number(end))) refuse(problem)
}

function validatePeer(errors: FieldError[], peer: Part, at: string, context: RuleContext): void {
  const given = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((name) => isGiven(peer, name))
  const block = optionalPart(peer, 'ipBlock')
  if (block !== undefined) validateBlock(errors, block, `${at}.ipBlock`, context)
  if (given.length === 0) errors.push(requiredValue(at, 'must specify a peer'))
  else if (given.length > 1 && block !== undefined) errors.push(forbiddenValue(at, 'may not specify both ipBlock and another peer'))
}

/** The first level whose message about a range contains examples, and that checks ranges after an invalid one. */
const examplesSince = 30

/** The first level at which the rule for an absent range is declarative. */
const declaredSince = 37

/** The ranges of a stored policy. */
const rangesOf = memo((policy: Part): ReadonlySet<string> => {
  const spec = partOf(policy, 'spec')
  const peers = [
    ...itemsOf(spec, 'ingress').flatMap((rule) => itemsOf(rule, 'from')),
    ...itemsOf(spec, 'egress').flatMap((rule) => itemsOf(rule, 'to')),
  ]
  const blocks = peers.map((peer) => partOf(peer, 'ipBlock'))
  return new Set(blocks.flatMap((block) => [textOf(block, 'cidr'), ...itemsOf<string>(block, 'except')]))
})

function validateBlock(errors: FieldError[], block: Part, at: string, context: RuleContext): void {
  const range = textOf(block, 'cidr')
  if (range === '') {
    const ofRules = context.level < declaredSince ? errors : context.declared
    ofRules.push(requiredValue(`${at}.cidr`))
    return
  }
  const checked = { ...addressesChecked(context), ...(context.live && { kept: rangesOf(context.live) }) }
  const hasExamples = context.level >= examplesSince
  if (hasExamples) errors.push(...validateLegacyCidr(range, `${at}.cidr`, checked))
  if (cidrFamilyOf(range) === undefined) {
    if (!hasExamples) errors.push(invalidValue(`${at}.cidr`, range, 'not a valid CIDR'))
    return
  }
  for (const [index, hole] of itemsOf<string>(block, 'except').entries()) {
    const field = `${at}.except[${index}]`
    if (hasExamples) errors.push(...validateLegacyCidr(hole, field, checked))
    if (cidrFamilyOf(hole) === undefined) {
      if (hasExamples) continue
      errors.push(invalidValue(field, hole, 'not a valid CIDR'))
      return
    }
    if (!isInside(hole, range)) errors.push(invalidValue(field, hole, 'must be a strict subset of `cidr`'))
  }
}

/** True if a range is within a larger one. Both must be valid. */
function isInside(inner: string, outer: string): boolean {
  const [innerBytes, innerBits] = bitsOf(inner)
  const [outerBytes, outerBits] = bitsOf(outer)
  return (
    innerBytes.length === outerBytes.length && innerBits > outerBits && innerBytes.slice(0, outerBits) === outerBytes.slice(0, outerBits)
  )
}

/** The bits of a range's address, and the length of its prefix. */
function bitsOf(range: string): readonly [string, number] {
  const [address = '', bits = ''] = range.split('/')
  const text = (parseIp(address) ?? []).map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return [text, Number(bits)]
}
