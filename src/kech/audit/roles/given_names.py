"""Given names, surnames and titles that are frequent where the seven languages are spoken, written for this list."""

GIVEN_NAMES = """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark
    donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary
    nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander raymond
    patrick jack dennis jerry tyler aaron jose adam henry nathan douglas zachary peter kyle walter ethan jeremy
    harold keith christian roger noah gerald carl terry sean austin arthur lawrence jesse dylan bryan joe jordan
    billy bruce albert willie gabriel logan alan juan wayne roy ralph randy eugene vincent russell elijah louis
    bobby philip johnny mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty
    margaret sandra ashley kimberly emily donna michelle carol amanda dorothy melissa deborah stephanie rebecca
    sharon laura cynthia kathleen amy angela shirley anna brenda pamela emma nicole helen samantha katherine
    christine debra rachel carolyn janet catherine maria heather diane ruth julie olivia joyce virginia victoria
    kelly lauren christina joan evelyn judith megan andrea cheryl hannah jacqueline martha gloria teresa ann sara
    madison frances kathryn janice jean abigail alice julia judy sophia grace denise amber doris marilyn danielle
    beverly isabella theresa diana natalie brittany charlotte marie kayla alexis lori oliver harry oscar leo freddie
    alfie theo archie mia ella ava lily freya ellie hans klaus wolfgang jurgen juergen dieter manfred uwe gunter
    guenter horst bernd werner helmut heinz gerhard stefan andreas jorg joerg markus matthias torsten ralf karl
    heinrich friedrich rainer holger jens sven tobias lukas felix jonas maximilian moritz finn ben luca emil anton
    konrad ludwig otto fritz kurt rolf axel detlef ursula monika petra sabine renate helga karin brigitte ingrid
    erika gisela claudia susanne gabriele christa heike anja katrin silke birgit angelika jutta ute lena lea leonie
    sophie johanna marlene greta frieda ida mathilda pierre michel andre philippe rene alain jacques bernard marcel
    francois nicolas julien antoine olivier guillaume mathieu thierry stephane laurent pascal sebastien hugo lucas
    raphael jules nathalie isabelle sylvie francoise monique jeanne camille celine sandrine valerie veronique
    chantal manon chloe ines jade louise juliette aurelie delphine florence helene odile antonio manuel francisco
    javier carlos jesus alejandro miguel rafael pedro pablo angel sergio fernando jorge luis alberto alvaro diego
    adrian raul ivan enrique ramon vicente andres joaquin ruben santiago carmen josefa isabel dolores pilar ana
    francisca rosario cristina lucia marta elena raquel rocio mercedes beatriz silvia irene alba sofia paula valeria
    ximena guadalupe juana alejandra giuseppe giovanni mario luigi francesco angelo vincenzo pietro salvatore carlo
    franco domenico bruno paolo michele giorgio aldo luciano marco alessandro matteo lorenzo riccardo federico
    davide simone stefano giulia chiara francesca federica martina valentina alessia elisa giovanna rosa giuseppina
    paola caterina antonella daniela roberta simona ilaria giorgia aurora ginevra beatrice jan piet johannes
    cornelis hendrik willem pieter gerrit jeroen bas sander maarten dirk joost ruud wouter daan sem lars thijs bram
    tim koen bart joris stijn tom luuk niels anneke wilhelmina cornelia marieke sanne femke lotte fleur iris noor
    saskia ingeborg trudy hanneke wilma esmee tess eva maaike joao paulo luiz marcos rui nuno tiago diogo goncalo
    ricardo filipe vasco fabio thiago gustavo felipe mateus joaquim mariana leonor matilde carolina catarina
    margarida rita joana fernanda juliana camila leticia larissa adriana luciana aline vanessa mohammed muhammad
    ahmed ali omar hassan fatima aisha mehmet mustafa ayse emine yusuf ibrahim wei ming li priya raj amit sanjay
    anita olga natasha tatiana dmitri sergei piotr katarzyna agnieszka
"""

SURNAMES = """
    smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson
    anderson thomas taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis robinson
    walker allen wright torres nguyen flores adams nelson campbell mitchell carter roberts evans edwards collins
    murphy kelly hughes patel khan muller mueller schmidt schneider fischer weber meyer wagner becker schulz
    hoffmann schafer schaefer bauer richter klein wolf schroder schroeder neumann schwarz zimmermann braun kruger
    krueger hofmann hartmann schmitt werner krause meier lehmann schmid schulze maier kohler koehler herrmann konig
    koenig huber kaiser fuchs peters lang scholz moller moeller weiss jung hahn keller vogel friedrich gunther
    berger winkler roth beck lorenz baumann franke bernard dubois durand robert richard petit moreau simon laurent
    lefebvre michel leroy roux fournier morel girard andre mercier dupont lambert bonnet francois fontaine rousseau
    blanc guerin henry roussel chevalier fernandez gomez diaz alvarez moreno jimenez ruiz alonso gutierrez navarro
    dominguez vazquez ramos gil serrano blanco molina morales suarez ortega delgado castro ortiz rubio marin rossi
    russo ferrari esposito bianchi romano colombo ricci marino greco conti gallo mancini costa giordano rizzo
    lombardi moretti barbieri fontana santoro mariani rinaldi caruso ferrara galli martini leone jansen vries berg
    bakker dijk visser smit meijer boer mulder groot bos vos hendriks leeuwen dekker brouwer dijkstra smits graaf
    meer linden kok jacobs haan vermeulen veen janssen silva santos ferreira pereira oliveira rodrigues martins
    sousa souza fernandes goncalves gomes lopes marques alves almeida ribeiro pinto carvalho teixeira moreira
    correia mendes nunes soares vieira monteiro cardoso rocha lima araujo barbosa nascimento
"""

TITLES = "mr mrs ms miss mme mlle herr frau sr sra srta sig sigra dr prof mevr dhr"

KNOWN = frozenset(f"{GIVEN_NAMES} {SURNAMES} {TITLES}".split())
