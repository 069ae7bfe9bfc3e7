import { types } from '@orch/cel/types'
import { list, ref } from '../../description/define.ts'
import type { ExpressionAge } from '../../expressions/libraries.ts'
import { type LevelText, textSince } from '../../meta/level-text.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035, checkPathSegment, checkQualifiedName, checkSubdomain } from '../../meta/validate-names.ts'
import type { Names } from '../../names.ts'
import { PolicyLanguage } from '../../policies/language.ts'
import { mutationResults } from '../../policies/mutating.ts'
import {
  duplicateValue,
  forbiddenValue,
  invalidFor,
  invalidTexts,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { TypeRules } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { bytesOf } from '../../validation/texts.ts'
import { requireOneOf, wordErrors } from './checks.ts'
import { expressionErrors, lazyLanguages, type Variables, validateMatchConditions } from './match-conditions.ts'
import { validateAdmissionRule } from './webhook.ts'

const notSpecified = 'expression is not specified'
/** The first level at which some texts are short. */
const plainSince = 34
const noAction = textSince(36, { before: 'Required value: at least one validation action is required', after: 'Required value' })
const ofMessage = (why: string): LevelText => textSince(plainSince, { before: `message ${why}`, after: why })
const auditAnnotationsMax = 20
const annotationBytesMax = 5 * 1024
// `Unauthorized` is in the documentation of the field, and refused.
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const actions = ['Audit', 'Deny', 'Warn']
/** Reserved in CEL, and so no names of variables. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

/** The rules of the server's own part of a policy. */
export const policyStatusRules: Readonly<Record<string, TypeRules>> = {
  'admissionregistration/v1.ExpressionWarning': ['warning', 'fieldRef'],
}

/** The rules of a ValidatingAdmissionPolicy, as in kube-apiserver. Stored expressions may use libraries that new ones may not yet. */
export function validateValidatingPolicy(
  policy: Part,
  live: Part | undefined,
  _names: Names,
  { level }: { readonly level: number },
): FieldError[] {
  const spec = partOf(policy, 'spec')
  const stored = live === undefined ? undefined : partOf(live, 'spec')
  const check = new PolicyCheck(spec, stored, { name: textOf(partOf(policy, 'metadata'), 'name'), level })
  return [...check.common(), ...check.validating()]
}

/** The rules of a MutatingAdmissionPolicy. */
export function validateMutatingPolicy(
  policy: Part,
  live: Part | undefined,
  _names: Names,
  { level }: { readonly level: number },
): FieldError[] {
  const spec = partOf(policy, 'spec')
  const stored = live === undefined ? undefined : partOf(live, 'spec')
  const check = new PolicyCheck(spec, stored, { name: textOf(partOf(policy, 'metadata'), 'name'), level })
  return [...check.common(), ...check.mutating()]
}

/** The rules of a MutatingAdmissionPolicyBinding. */
export function validateMutatingBinding(binding: Part): FieldError[] {
  const spec = partOf(binding, 'spec')
  const rules = itemsOf(optionalPart(spec, 'matchResources'), 'resourceRules')
  return [...validateBinding(spec), ...rules.flatMap(refuseDeletion('spec.matchResources'))]
}

/** The rules of a ValidatingAdmissionPolicyBinding. */
export function validateValidatingBinding(binding: Part): FieldError[] {
  const spec = partOf(binding, 'spec')
  const given = itemsOf<string>(spec, 'validationActions')
  const errors = validateBinding(spec)
  const at = 'spec.validationActions'
  if (given.length === 0) errors.push({ reason: 'FieldValueRequired', field: at, message: noAction })
  const seen = new Set<string>()
  for (const [index, action] of given.entries()) {
    if (!actions.includes(action)) errors.push(unsupportedValue(`${at}[${index}]`, action, actions))
    if (seen.has(action)) errors.push(duplicateValue(`${at}[${index}]`, action))
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
    errors.push(invalidTexts(at, given, detail, list(ref('admissionregistration/v1.ValidationAction'))))
  }
  return errors
}

function validateBinding(spec: Part): FieldError[] {
  const policyName = textOf(spec, 'policyName')
  const matched = optionalPart(spec, 'matchResources')
  return [
    ...(policyName === '' ? [requiredValue('spec.policyName')] : invalidFor('spec.policyName', policyName, checkSubdomain(policyName))),
    ...validateParamRef(optionalPart(spec, 'paramRef')),
    ...(matched === undefined ? [] : validateMatchResources(matched, 'spec.matchResources')),
  ]
}

function validateParamRef(reference: Part | undefined): FieldError[] {
  if (reference === undefined) return []
  const at = 'spec.paramRef'
  const name = textOf(reference, 'name')
  const selector = optionalPart(reference, 'selector')
  const errors: FieldError[] = []
  const isBoth = name !== '' && selector !== undefined
  const refuse = (field: string): void => void errors.push(forbiddenValue(`${at}.${field}`, 'name and selector are mutually exclusive'))
  errors.push(...invalidFor(`${at}.name`, name, checkPathSegment(name)))
  if (isBoth) refuse('name')
  errors.push(...validateLabelSelector(selector, `${at}.selector`))
  if (isBoth) refuse('selector')
  if (name === '' && selector === undefined) errors.push(requiredValue(at, 'one of name or selector must be specified'))
  requireOneOf(errors, { part: reference, name: 'parameterNotFoundAction', at }, ['Deny', 'Allow'])
  return errors
}

/** The rules of the requests that a policy or a binding matches. */
function validateMatchResources(resources: Part, at: string): FieldError[] {
  const rules = (name: string) => itemsOf(resources, name).flatMap((rule, index) => validateNamedRule(rule, `${at}.${name}[${index}]`))
  const selector = (name: string) => {
    const given = optionalPart(resources, name)
    return given === undefined ? [requiredValue(`${at}.${name}`)] : validateLabelSelector(given, `${at}.${name}`)
  }
  return [
    ...wordErrors(`${at}.matchPolicy`, resources['matchPolicy'], ['Equivalent', 'Exact']),
    ...selector('namespaceSelector'),
    ...selector('objectSelector'),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ]
}

function validateNamedRule(rule: Part, at: string): FieldError[] {
  const seen = new Set<string>()
  const errors: FieldError[] = []
  for (const [index, name] of itemsOf<string>(rule, 'resourceNames').entries()) {
    errors.push(...invalidFor(`${at}.resourceNames[${index}]`, name, checkPathSegment(name)))
    if (seen.has(name)) errors.push(duplicateValue(`${at}.resourceNames[${index}]`, name))
    seen.add(name)
  }
  return [...errors, ...validateAdmissionRule(rule, at)]
}

/** Operations whose objects can be changed. kube-apiserver blames no rule in particular. */
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

function refuseDeletion(at: string): (rule: Part) => FieldError[] {
  return (rule) =>
    itemsOf<string>(rule, 'operations')
      .filter((operation) => !mutatingOperations.includes(operation))
      .map((operation) => unsupportedValue(`${at}.resourceRules.operations`, operation, mutatingOperations))
}

/** The expressions of a stored spec, all together: their texts count, at any place. */
function storedExpressions(spec: Part | undefined): ReadonlySet<string> {
  if (spec === undefined) return new Set()
  const places = [
    ['variables', 'expression'],
    ['validations', 'expression'],
    ['validations', 'messageExpression'],
    ['auditAnnotations', 'valueExpression'],
    ['matchConditions', 'expression'],
  ] as const
  const changes = itemsOf(spec, 'mutations').flatMap((one) => [
    textOf(partOf(one, 'applyConfiguration'), 'expression'),
    textOf(partOf(one, 'jsonPatch'), 'expression'),
  ])
  return new Set([...places.flatMap(([list, name]) => itemsOf(spec, list).map((item) => textOf(item, name))), ...changes])
}

class PolicyCheck {
  readonly #spec: Part
  readonly #name: string
  readonly #level: number
  readonly #stored: ReadonlySet<string>
  readonly #hasParams: boolean
  /** Absent: the policy has none, and `variables` is no name. */
  #variables: Variables | undefined

  constructor(spec: Part, live: Part | undefined, { name, level }: { readonly name: string; readonly level: number }) {
    this.#spec = spec
    this.#name = name
    this.#level = level
    this.#stored = storedExpressions(live)
    this.#hasParams = optionalPart(spec, 'paramKind') !== undefined
  }

  /** The rules of all kinds of policies. */
  common(): FieldError[] {
    const spec = this.#spec
    const errors = wordErrors('spec.failurePolicy', spec['failurePolicy'], ['Fail', 'Ignore'])
    errors.push(...this.#paramKind(optionalPart(spec, 'paramKind')))
    const constraints = optionalPart(spec, 'matchConstraints')
    if (constraints === undefined) errors.push(requiredValue('spec.matchConstraints'))
    else {
      errors.push(...validateMatchResources(constraints, 'spec.matchConstraints'))
      if (itemsOf(constraints, 'resourceRules').length === 0) errors.push(requiredValue('spec.matchConstraints.resourceRules'))
    }
    errors.push(
      ...validateMatchConditions(spec, 'spec.matchConditions', { hasParams: this.#hasParams, stored: this.#stored, level: this.#level }),
    )
    errors.push(...this.#checkVariables())
    return errors
  }

  /** Validations and audit annotations. */
  validating(): FieldError[] {
    const validations = itemsOf(this.#spec, 'validations')
    const annotations = itemsOf(this.#spec, 'auditAnnotations')
    if (validations.length === 0 && annotations.length === 0) {
      const detail = 'validations or auditAnnotations must contain at least one item'
      return [requiredValue('spec.validations', detail), requiredValue('spec.auditAnnotations', detail)]
    }
    const languages = lazyLanguages(this.#hasParams, this.#variables)
    const messages = lazyLanguages(this.#hasParams, this.#variables, { hasAuthorizer: false })
    return [
      ...validations.flatMap((one, index) => this.#validation(one, `spec.validations[${index}]`, languages, messages)),
      ...this.#annotations(annotations, languages),
    ]
  }

  /** Mutations, and when they are made again. */
  mutating(): FieldError[] {
    const mutations = itemsOf(this.#spec, 'mutations')
    const errors = itemsOf(optionalPart(this.#spec, 'matchConstraints'), 'resourceRules').flatMap(refuseDeletion('spec.matchConstraints'))
    if (mutations.length === 0) errors.push(requiredValue('spec.mutations', 'mutations must contain at least one item'))
    requireOneOf(errors, { part: this.#spec, name: 'reinvocationPolicy', at: 'spec' }, ['IfNeeded', 'Never'])
    const languages = lazyLanguages(this.#hasParams, this.#variables, { isMutating: true })
    return [...errors, ...mutations.flatMap((one, index) => this.#mutation(one, `spec.mutations[${index}]`, languages))]
  }

  #mutation(mutation: Part, at: string, languages: (age: ExpressionAge) => PolicyLanguage): FieldError[] {
    const type = textOf(mutation, 'patchType')
    const places = { ApplyConfiguration: ['applyConfiguration', 'apply'], JSONPatch: ['jsonPatch', 'patch'] } as const
    if (type === '') return [requiredValue(`${at}.patchType`)]
    if (type !== 'ApplyConfiguration' && type !== 'JSONPatch') {
      return [unsupportedValue(`${at}.patchType`, type, ['ApplyConfiguration', 'JSONPatch'])]
    }
    const [name, kind] = places[type]
    const [other] = places[type === 'JSONPatch' ? 'ApplyConfiguration' : 'JSONPatch']
    const change = optionalPart(mutation, name)
    const errors: FieldError[] = []
    if (change === undefined) errors.push(requiredValue(`${at}.${name}`, `must be specified when patchType is ${type}`))
    if (optionalPart(mutation, other) !== undefined) {
      errors.push(invalidValue(`${at}.${other}`, `{${other}}`, `must not be specified when patchType is ${type}`))
    }
    if (change === undefined) return errors
    const expression = textOf(change, 'expression')
    const check = { wanted: [mutationResults[kind]], language: languages(this.#age(expression)) }
    return [...errors, ...expressionErrors(`${at}.${name}.expression`, expression, check)]
  }

  #checkVariables(): FieldError[] {
    const errors: FieldError[] = []
    const language = new PolicyLanguage(
      { hasParams: this.#hasParams, hasAuthorizer: true, variables: new Map(), isMutating: 'mutations' in this.#spec },
      'stored',
    )
    const fresh = new PolicyLanguage(
      { hasParams: this.#hasParams, hasAuthorizer: true, variables: new Map(), isMutating: 'mutations' in this.#spec },
      this.#level,
    )
    const variables = itemsOf(this.#spec, 'variables')
    for (const [index, variable] of variables.entries()) {
      const [name, expression] = [textOf(variable, 'name'), textOf(variable, 'expression')]
      const at = `spec.variables[${index}]`
      if (name.trim() === '') errors.push(requiredValue(`${at}.name`, 'name is not specified'))
      else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reserved.has(name)) {
        errors.push(
          invalidValue(
            `${at}.name`,
            name,
            textSince(plainSince, { before: 'name is not a valid CEL identifier', after: 'must be a valid CEL identifier' }),
          ),
        )
      }
      const used = this.#stored.has(expression) ? language : fresh
      errors.push(...expressionErrors(`${at}.expression`, expression, { wanted: [], language: used, absent: notSpecified }))
      if (expression.trim() === '') continue
      const compiled = used.compile(expression)
      language.define(name, compiled)
      fresh.define(name, compiled)
    }
    if (variables.length > 0 || 'mutations' in this.#spec) this.#variables = language.variables
    return errors
  }

  #paramKind(kind: Part | undefined): FieldError[] {
    if (kind === undefined) return []
    const at = 'spec.paramKind'
    const [apiVersion, name] = [textOf(kind, 'apiVersion'), textOf(kind, 'kind')]
    const errors: FieldError[] = []
    if (apiVersion === '') errors.push(requiredValue(`${at}.apiVersion`))
    else errors.push(...apiVersionErrors(`${at}.apiVersion`, apiVersion))
    if (name === '') errors.push(requiredValue(`${at}.kind`))
    else {
      const problems = checkLabel1035(name.toLowerCase())
      if (problems.length > 0) {
        errors.push(invalidValue(`${at}.kind`, name, `may have mixed case, but should otherwise match: ${problems.join(',')}`))
      }
    }
    return errors
  }

  #validation(
    validation: Part,
    at: string,
    languages: (age: ExpressionAge) => PolicyLanguage,
    messages: (age: ExpressionAge) => PolicyLanguage,
  ): FieldError[] {
    const expression = textOf(validation, 'expression')
    const message = textOf(validation, 'message')
    const messageExpression = textOf(validation, 'messageExpression')
    const reason = validation['reason']
    const errors = expressionErrors(`${at}.expression`, expression, {
      wanted: [types.bool],
      language: languages(this.#age(expression)),
      absent: notSpecified,
    })
    if (messageExpression !== '' && messageExpression.trim() === '') {
      errors.push(invalidValue(`${at}.messageExpression`, messageExpression, 'must be non-empty if specified'))
    } else if (messageExpression !== '') {
      errors.push(
        ...expressionErrors(`${at}.messageExpression`, messageExpression, {
          wanted: [types.string],
          language: messages(this.#age(messageExpression)),
        }),
      )
    }
    if (message !== '' && message.trim() === '')
      errors.push(invalidValue(`${at}.message`, message, ofMessage('must be non-empty if specified')))
    else if (hasLineBreak(message.trim())) errors.push(invalidValue(`${at}.message`, message, ofMessage('must not contain line breaks')))
    else if (message === '' && hasLineBreak(expression.trim()) && messageExpression === '') {
      errors.push(requiredValue(`${at}.message`, 'message must be specified if expression contains line breaks'))
    }
    if (typeof reason === 'string' && !reasons.includes(reason)) errors.push(unsupportedValue(`${at}.reason`, reason, reasons))
    return errors
  }

  #annotations(annotations: readonly Part[], languages: (age: ExpressionAge) => PolicyLanguage): FieldError[] {
    const errors: FieldError[] = []
    const path = 'spec.auditAnnotations'
    if (annotations.length > auditAnnotationsMax) {
      errors.push(invalidValue(path, annotations, `must not have more than ${auditAnnotationsMax} auditAnnotations`))
    }
    const seen = new Set<string>()
    for (const [index, annotation] of annotations.entries()) {
      const at = `${path}[${index}]`
      const [key, expression] = [textOf(annotation, 'key'), textOf(annotation, 'valueExpression')]
      const whole = `${this.#name}/${key}`
      if (this.#name === '') errors.push(invalidValue(`${at}.key`, key, 'requires metadata.name be non-empty'))
      else errors.push(...invalidFor(`${at}.key`, whole, checkQualifiedName(whole)))
      if (seen.has(key)) errors.push(duplicateValue(`${at}.key`, key))
      seen.add(key)
      const absent = 'valueExpression is not specified'
      errors.push(
        ...expressionErrors(`${at}.valueExpression`, expression, {
          wanted: [types.string, types.null, types.dyn],
          language: languages(this.#age(expression)),
          absent,
        }),
      )
      if (bytesOf(expression) > annotationBytesMax) errors.push(requiredValue(`${at}.valueExpression`, 'must not exceed 5kb in length'))
    }
    return errors
  }

  #age(expression: string): ExpressionAge {
    return this.#stored.has(expression) ? 'stored' : this.#level
  }
}

function apiVersionErrors(field: string, apiVersion: string): FieldError[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return [invalidValue(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  const version = parts.at(-1) ?? ''
  const group = parts.length === 2 ? (parts[0] ?? '') : ''
  return [
    ...(parts.length === 2 ? checkSubdomain(group) : []).map((problem) => invalidValue(field, group, problem)),
    ...checkLabel1035(version).map((problem) => invalidValue(field, version, problem)),
  ]
}

function hasLineBreak(text: string): boolean {
  return /[\r\n]/.test(text)
}
