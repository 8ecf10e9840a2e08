// What TypeScript can't know: the templates decide what a selector finds and what an event hits, and
// htmx and the vendored libraries have no types.
type Options = boolean | AddEventListenerOptions;
type Hit<E> = E & { readonly target: any };

interface Document {
  addEventListener<K extends keyof DocumentEventMap>(
    name: K,
    act: (event: Hit<DocumentEventMap[K]>) => unknown,
    options?: Options,
  ): void;
  addEventListener(name: string, act: (event: Hit<CustomEvent>) => unknown, options?: Options): void;
  getElementById(id: string): any;
  readonly activeElement: any;
}
interface HTMLElement {
  addEventListener<K extends keyof HTMLElementEventMap>(
    name: K,
    act: (event: Hit<HTMLElementEventMap[K]>) => unknown,
    options?: Options,
  ): void;
  addEventListener(name: string, act: (event: Hit<CustomEvent>) => unknown, options?: Options): void;
}
interface Window {
  addEventListener<K extends keyof WindowEventMap>(
    name: K,
    act: (event: Hit<WindowEventMap[K]>) => unknown,
    options?: Options,
  ): void;
  htmx: any;
  Idiomorph: any;
  launchQueue: any;
}
interface ParentNode {
  querySelector(selector: string): any;
  querySelectorAll(selector: string): NodeListOf<any>;
}
interface Element {
  closest(selector: string): any;
}
