/** The rules of a flow schema for every request. */
export const anything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

const groups = (...names: readonly string[]) => names.map((name) => ({ kind: 'Group', group: { name } }))

/** Specs of the mandatory FlowSchemas by name. No other spec can be written to them. */
export const mandatoryFlowSchemas = {
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: groups('system:masters'), ...anything }],
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...anything }],
  },
} as const

/** Specs of the mandatory PriorityLevelConfigurations by name. No other spec can be written to them. */
export const mandatoryPriorityLevels = {
  exempt: { type: 'Exempt' },
  'catch-all': { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } },
} as const
