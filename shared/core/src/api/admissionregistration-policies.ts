import { atomic, field, inline, merged, needed, pointer, required } from '../description/fields.ts'
import { atomicStruct, defineTypes, object, struct } from '../description/structs.ts'
import { closed, known, only, string, text } from '../description/texts.ts'
import { int64, list, ref } from '../description/values.ts'
import { metadata, objectList } from './common.ts'

const pkg = 'admissionregistration/v1'

/** The types of admission policies in admissionregistration/v1. */
export const admissionPolicies = defineTypes({
  ApplyConfiguration: struct('A change by merging.', () => ({
    expression: field(string(), 1, {
      doc: 'CEL expression for an Object{…}, which is merged into the object as server-side apply merges. It cannot remove anything, nor set an atomic list, map or struct.',
    }),
  })),
  AuditAnnotation: struct('An annotation that a policy adds to the audit event of a request.', () => ({
    key: required(string(), 1, 'Key of the annotation; the name of the policy and a slash are put before it. Unique in the policy.'),
    valueExpression: required(string(), 2, 'CEL expression for the value: a string, or null for no annotation. Values are cut to 10 KiB.'),
  })),
  ExpressionWarning: struct('A type error in an expression.', () => ({
    fieldRef: needed(string(), 2, {
      required: true,
      doc: 'Path of the field with the expression, such as spec.validations[0].expression.',
    }),
    warning: needed(string(), 3, { required: true, doc: 'Results of the type checker, by checked kind.' }),
  })),
  JSONPatch: struct('A change by a JSON patch.', () => ({
    expression: field(string(), 1, {
      doc: 'CEL expression for a list of JSONPatch{op, path, from, value}, the operations of RFC 6902. jsonpatch.escapeKey escapes keys in paths.',
    }),
  })),
  MatchCondition: struct('A condition in CEL that a request must meet before the rest is evaluated.', () => ({
    name: required(string(), 1, 'Name of the condition, for messages. A qualified name, unique in its list.'),
    expression: required(string(), 2, {
      doc: 'CEL expression that must be true. It sees object, oldObject, request, authorizer and authorizer.requestResource.',
    }),
  })),
  MatchResources: atomicStruct('Requests that a policy or a binding matches.', () => ({
    namespaceSelector: needed(ref('meta/v1.LabelSelector'), 1, {
      pointer: true,
      doc: 'Only requests for objects in namespaces with matching labels. Objects without a namespace always match. Empty matches all.',
    }),
    objectSelector: needed(ref('meta/v1.LabelSelector'), 2, {
      pointer: true,
      doc: 'Only requests whose object, before or after the change, has matching labels. Empty matches all.',
    }),
    resourceRules: atomic(list(ref(`${pkg}.NamedRuleWithOperations`)), 3, 'Requests that match: those of at least one rule.'),
    excludeResourceRules: atomic(list(ref(`${pkg}.NamedRuleWithOperations`)), 4, 'Requests that do not match, whatever resourceRules say.'),
    matchPolicy: needed(ref(`${pkg}.MatchPolicyType`), 7, {
      pointer: true,
      doc: 'Exact matches only requests for the group version of a rule; Equivalent (the default) also converts requests for other versions of the same resource.',
    }),
  })),
  MutatingAdmissionPolicy: object(
    'Changes in CEL to objects before they are stored, made by the server without a webhook. It takes effect through bindings.',
    () => ({
      metadata,
      spec: field(ref(`${pkg}.MutatingAdmissionPolicySpec`), 2, 'Mutations of the policy, and the requests it matches.'),
    }),
  ),
  MutatingAdmissionPolicyBinding: object('Puts a MutatingAdmissionPolicy into effect, for some requests and with some parameters.', () => ({
    metadata,
    spec: field(ref(`${pkg}.MutatingAdmissionPolicyBindingSpec`), 2, 'Bound policy, its parameters, and the matched objects.'),
  })),
  MutatingAdmissionPolicyBindingList: objectList(`${pkg}.MutatingAdmissionPolicyBinding`),
  MutatingAdmissionPolicyBindingSpec: struct('Policy and parameters of a binding, and the objects it applies to.', () => ({
    policyName: needed(text('subdomain'), 1, 'Name of the MutatingAdmissionPolicy. A binding without its policy has no effect. Required.'),
    paramRef: pointer(ref(`${pkg}.ParamRef`), 2, 'The parameters; only if the policy has a paramKind. Without parameters, params is null.'),
    matchResources: pointer(ref(`${pkg}.MatchResources`), 3, 'Narrows the requests that the policy matches. Absent means all of them.'),
  })),
  MutatingAdmissionPolicyList: objectList(`${pkg}.MutatingAdmissionPolicy`),
  MutatingAdmissionPolicySpec: struct('Mutations of a policy, and the requests it matches.', () => ({
    paramKind: pointer(ref(`${pkg}.ParamKind`), 1, 'The kind of the parameters. Absent means that the policy has none.'),
    matchConstraints: needed(ref(`${pkg}.MatchResources`), 2, {
      pointer: true,
      doc: 'Requests that the policy matches, with at least one resource rule. Requests for policies and bindings never match. Required.',
    }),
    variables: atomic(list(ref(`${pkg}.Variable`)), 3, {
      doc: 'Named values for other expressions: variables.<name>. A variable may use earlier ones, and is evaluated at its first use.',
    }),
    mutations: atomic(list(ref(`${pkg}.Mutation`)), 4, 'Changes, made one after the other. At least one.'),
    failurePolicy: needed(ref(`${pkg}.FailurePolicyType`), 5, {
      pointer: true,
      doc: 'Effect of an error of evaluation or configuration: Fail (the default) refuses the request, Ignore leaves the change out.',
    }),
    matchConditions: merged('name', list(ref(`${pkg}.MatchCondition`)), 6, {
      doc: 'Conditions in CEL. The policy is only evaluated if all are true. At most 64.',
    }),
    reinvocationPolicy: needed(ref(`${pkg}.ReinvocationPolicyType`), 7, {
      doc: 'Never evaluates the policy once; IfNeeded evaluates it again if the object is changed later. Required.',
    }),
  })),
  Mutation: struct('One change.', () => ({
    patchType: needed(ref(`${pkg}.PatchType`), 2, { required: true, doc: 'ApplyConfiguration or JSONPatch: the field that is set.' }),
    applyConfiguration: pointer(ref(`${pkg}.ApplyConfiguration`), 3, 'A change by merging.'),
    jsonPatch: pointer(ref(`${pkg}.JSONPatch`), 4, 'A change by a JSON patch.'),
  })),
  NamedRuleWithOperations: atomicStruct('Resources, names of objects, and operations.', () => ({
    resourceNames: atomic(list(text('pathSegment'), { isUnique: true }), 1, 'Names of objects; empty means all.'),
    ruleWithOperations: inline(`${pkg}.RuleWithOperations`, 2),
  })),
  ParamKind: atomicStruct('The kind of object that a policy takes its parameters from.', () => ({
    apiVersion: needed(string(), 1, 'Group and version of the parameters.'),
    kind: needed(string(), 2, 'Kind of the parameters.'),
  })),
  ParamRef: atomicStruct('Parameter objects of a binding.', () => ({
    name: field(text('pathSegment'), 1, 'Name of the object. Exactly one of name and selector is set.'),
    namespace: field(string(), 2, 'Namespace of the parameters. If empty and their kind is namespaced: the namespace of the request.'),
    selector: pointer(ref('meta/v1.LabelSelector'), 3, 'Labels of the objects; the policy is evaluated with each of them.'),
    parameterNotFoundAction: pointer(ref(`${pkg}.ParameterNotFoundActionType`), 4, {
      doc: 'Effect of a missing object: Allow does not apply the binding, Deny fails as failurePolicy says. Required.',
    }),
  })),
  ParameterNotFoundActionType: () => known('Allow', 'Deny'),
  TypeChecking: struct('Result of checking the expressions against the types of the matched kinds.', () => ({
    expressionWarnings: atomic(list(ref(`${pkg}.ExpressionWarning`)), 1, 'Errors in expressions, in the order of the policy.'),
  })),
  ValidatingAdmissionPolicy: object(
    'Rules in CEL about requests, evaluated by the server without a webhook. It takes effect through bindings.',
    () => ({
      metadata,
      spec: field(ref(`${pkg}.ValidatingAdmissionPolicySpec`), 2, 'Validations of the policy, and the requests it matches.'),
      status: field(ref(`${pkg}.ValidatingAdmissionPolicyStatus`), 3, 'Observed state of the policy. Read-only.'),
    }),
  ),
  ValidatingAdmissionPolicyBinding: object(
    'Puts a ValidatingAdmissionPolicy into effect, for some requests and with some parameters.',
    () => ({
      metadata,
      spec: field(ref(`${pkg}.ValidatingAdmissionPolicyBindingSpec`), 2, {
        changes: { 36: { listedAsRequired: true } },
        doc: 'Bound policy, its parameters, and the matched objects.',
      }),
    }),
  ),
  ValidatingAdmissionPolicyBindingList: objectList(`${pkg}.ValidatingAdmissionPolicyBinding`),
  ValidatingAdmissionPolicyBindingSpec: struct('Policy and parameters of a binding, and the objects it applies to.', () => ({
    policyName: needed(text('subdomain'), 1, {
      changes: { 36: { listedAsRequired: true } },
      doc: 'Name of the ValidatingAdmissionPolicy. A binding without its policy has no effect. Required.',
    }),
    paramRef: pointer(ref(`${pkg}.ParamRef`), 2, 'The parameters; only if the policy has a paramKind. Without parameters, params is null.'),
    matchResources: pointer(ref(`${pkg}.MatchResources`), 3, 'Narrows the requests that the policy matches. Absent means all of them.'),
    validationActions: field(list(ref(`${pkg}.ValidationAction`), { isUnique: true }), 4, {
      listType: 'set',
      needed: 'at least one validation action is required',
      changes: { 36: { listedAsRequired: true, needed: true } },
      doc: 'Actions on a validation that fails: Deny, Warn, Audit. At least one; not both Deny and Warn. Required.',
    }),
  })),
  ValidatingAdmissionPolicyList: objectList(`${pkg}.ValidatingAdmissionPolicy`),
  ValidatingAdmissionPolicySpec: struct('Validations of a policy, and the requests it matches.', () => ({
    paramKind: pointer(ref(`${pkg}.ParamKind`), 1, 'The kind of the parameters. Absent means that the policy has none.'),
    matchConstraints: needed(ref(`${pkg}.MatchResources`), 2, {
      pointer: true,
      doc: 'Requests that the policy matches, with at least one resource rule. Requests for policies and bindings never match. Required.',
    }),
    validations: atomic(list(ref(`${pkg}.Validation`)), 3, {
      doc: 'Expressions that must hold. A policy has validations, auditAnnotations or both.',
    }),
    failurePolicy: needed(ref(`${pkg}.FailurePolicyType`), 4, {
      pointer: true,
      doc: 'Effect of an error of evaluation or configuration: Fail (the default) counts as a failed validation, Ignore as a successful one.',
    }),
    auditAnnotations: atomic(list(ref(`${pkg}.AuditAnnotation`)), 5, 'Annotations for the audit event of the request. At most 20.'),
    matchConditions: merged('name', list(ref(`${pkg}.MatchCondition`)), 6, {
      doc: 'Conditions in CEL. The policy is only evaluated if all are true. At most 64.',
    }),
    variables: merged('name', list(ref(`${pkg}.Variable`)), 7, {
      since: 28,
      changes: { 28: { keepEmpty: true }, 29: { keepEmpty: false } },
      doc: 'Named values for other expressions: variables.<name>. A variable may use earlier ones, and is evaluated at its first use.',
    }),
  })),
  ValidatingAdmissionPolicyStatus: struct('Observed state of a policy.', () => ({
    observedGeneration: field(int64(), 1, 'The metadata.generation that the status was derived from.'),
    typeChecking: pointer(ref(`${pkg}.TypeChecking`), 2, 'The result of checking types. Present once the check is done.'),
    conditions: field(list(ref('meta/v1.Condition'), { uniqueBy: 'type', isPlacedSince: 37 }), 3, {
      listType: 'map',
      listMapKeys: ['type'],
      doc: 'Conditions of the policy.',
    }),
  })),
  Validation: struct('A validation of a policy.', () => ({
    expression: required(string(), 1, {
      doc: 'CEL expression that must be true. It sees object, oldObject, request, params, namespaceObject, variables, authorizer and authorizer.requestResource.',
    }),
    message: field(string(), 2, {
      doc: 'Message of a failure. One line; required if the expression has several. Default: failed expression: <expression>.',
    }),
    // The field's documentation lists `Unauthorized`, but the server refuses it.
    reason: pointer(only(known('Forbidden', 'Invalid', 'RequestEntityTooLarge')), 3, {
      doc: 'Reason and status code of a denial: Unauthorized, Forbidden, Invalid (the default) or RequestEntityTooLarge.',
    }),
    messageExpression: field(string(), 4, {
      doc: 'CEL expression for the message. If it fails, or gives an empty text, several lines or more than 5 KiB, message is used.',
    }),
  })),
  ValidationAction: () => only(closed('Audit', 'Deny', 'Warn')),
  Variable: atomicStruct('A value with a name.', () => ({
    name: required(string(), 1, 'Name of the variable: an identifier of CEL, unique in the policy.'),
    expression: required(string(), 2, 'CEL expression for the value. It may use the same variables as validations.'),
  })),
})
