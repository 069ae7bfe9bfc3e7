/** Starts one server of profile `kubernetes` for a whole run; `KUBECONFIG` names its client configuration. */
declare function setup(): Promise<void>
export = setup
