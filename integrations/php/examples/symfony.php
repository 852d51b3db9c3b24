<?php
// SPDX-License-Identifier: Apache-2.0
// The comments in Symfony's HttpKernel, to be called by public/index.php behind its autoloader. COMMENTS, by SetEnv, names the file.
declare(strict_types=1);

use ModVault\Vault;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\HttpFoundation\RedirectResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\RequestStack;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Controller\ControllerResolver;
use Symfony\Component\HttpKernel\Event\ResponseEvent;
use Symfony\Component\HttpKernel\EventListener\RouterListener;
use Symfony\Component\HttpKernel\HttpKernel;
use Symfony\Component\HttpKernel\KernelEvents;
use Symfony\Component\Routing\Matcher\UrlMatcher;
use Symfony\Component\Routing\RequestContext;
use Symfony\Component\Routing\Route;
use Symfony\Component\Routing\RouteCollection;

require_once __DIR__ . '/../Vault.php';
require_once __DIR__ . '/Comments.php';

$request = Request::createFromGlobals();
$vault = new Vault($request->server->all());
$comments = new Comments($vault, $request->server->get('COMMENTS'));

$controllers = [
    'GET /' => fn() => new Response($comments->page()),
    'GET /news' => fn() => new Response($comments->news()),
    'GET /count' => fn() => new Response($comments->countNews()),
    'POST /comments' => function (Request $request) use ($comments) {
        $comments->add((string)$request->request->get('text'));
        return new RedirectResponse('/', 303);
    },
    'POST /filter' => function (Request $request) use ($comments) {
        $comments->filter((string)$request->request->get('word'));
        return new Response('', 204);
    },
];
$routes = new RouteCollection();
foreach ($controllers as $route => $controller) {
    [$method, $path] = explode(' ', $route);
    $routes->add($route, new Route($path, ['_controller' => $controller], methods: [$method]));
}

$dispatcher = new EventDispatcher();
$dispatcher->addSubscriber(new RouterListener(new UrlMatcher($routes, new RequestContext()), new RequestStack()));
$dispatcher->addListener(KernelEvents::RESPONSE, fn(ResponseEvent $event) => $event->getResponse()->headers->add($vault->headers()));
$kernel = new HttpKernel($dispatcher, new ControllerResolver());
$response = $kernel->handle($request)->send();
$kernel->terminate($request, $response);
